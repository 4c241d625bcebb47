package main

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/viper"
)

const (
	// maxSecretFile bounds what is read of a file that should hold a secret.
	maxSecretFile = 64 << 10
	// minSecret is the least length of a secret, in bytes, that is worth its name: a shorter one may be guessed from one signed delivery.
	minSecret = 16
	// maxSettingsFile bounds what is searched of a settings file for the line of an error.
	maxSettingsFile = 1 << 20
)

// secret reads a secret from key, else from the file that key_file names, and gives a warning if there is reason for one. Space around
// it is no part of it, wherever it came from; nil: there is none. The error names the setting and never shows a value: what should be a
// file's name may well be the secret itself.
func secret(v *viper.Viper, key string) (value []byte, warning string, err error) {
	from := key
	text, ok := v.Get(key).(string)
	switch {
	case !ok:
		return nil, "", fmt.Errorf("setting %s: want text: put it in quotes", key) // 0123 would be read as 83
	case text != "":
		value = []byte(text)
	default:
		from += "_file"
		path := v.GetString(from)
		if path == "" {
			return nil, "", nil
		}
		if value, warning, err = secretFile(path); err != nil {
			return nil, "", fmt.Errorf("setting %s: %w", from, err)
		}
	}
	value = []byte(strings.TrimSpace(string(value)))
	switch {
	case len(value) == 0 && from != key: // it was read, so that it is no secret that stands there instead of a name
		return nil, "", fmt.Errorf("setting %s: the file %s is empty", from, v.GetString(from))
	case len(value) == 0:
		// Fail closed: anybody can sign with an empty key.
		return nil, "", fmt.Errorf("setting %s: it is blank", from)
	case warning == "" && len(value) < minSecret:
		warning = fmt.Sprintf("it has fewer than %d bytes and may be guessed; create one with: openssl rand -hex 32", minSecret)
	}
	if warning != "" {
		warning = "setting " + from + ": " + warning
	}
	return value, warning, nil
}

// notOurs are the kinds of PEM that people take for the App's key, and what each is.
var notOurs = map[string]string{
	"PUBLIC KEY": "a public key", "RSA PUBLIC KEY": "a public key", "CERTIFICATE": "a certificate", "ENCRYPTED PRIVATE KEY": "an encrypted key",
	"OPENSSH PRIVATE KEY": "a key of OpenSSH", "EC PRIVATE KEY": "an EC key",
}

// keyError says what was given instead of the App's private key, if it is a thing that people mistake for it. What else is no key the
// forge says.
func keyError(key []byte) error {
	kind := ""
	if block, _ := pem.Decode(key); block != nil {
		kind = notOurs[block.Type]
	} else if strings.HasPrefix(string(key), "ssh-") {
		kind = "a public key"
	}
	if kind == "" {
		return nil
	}
	return fmt.Errorf("this is %s: want the App's private key, the .pem file that GitHub generates", kind)
}

// secretFile reads a file that should hold a secret.
func secretFile(path string) (value []byte, warning string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, "", withoutPath(err)
	}
	defer func() { _ = f.Close() }() // read only: nothing is lost
	info, err := f.Stat()
	if err != nil {
		return nil, "", withoutPath(err)
	}
	value, err = io.ReadAll(io.LimitReader(f, maxSecretFile))
	return value, exposed(info), withoutPath(err)
}

// withoutPath is what is wrong with a file, without its name.
func withoutPath(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// exposed says what is wrong with the mode of a file that holds secrets; "": nothing. Others must neither read nor write it. A group
// may: it is how platforms hand a mounted secret to a process that is not root.
func exposed(info fs.FileInfo) string {
	const others = 0o006
	if runtime.GOOS == "windows" || info.Mode().Perm()&others == 0 {
		return "" // Windows keeps no such modes
	}
	return fmt.Sprintf("other users may read or write the file (mode %04o): run chmod o-rw on it", info.Mode().Perm())
}

// exposedSettings says what is wrong with the mode of a settings file that holds a secret; "": nothing.
func exposedSettings(v *viper.Viper, path string) string {
	if !slices.ContainsFunc(knownSettings(), func(s setting) bool { return s.secret && v.InConfig(s.key) }) {
		return ""
	}
	if warning := exposedFile(path); warning != "" {
		return "settings file " + path + " holds a secret: " + warning
	}
	return ""
}

// exposedFile is exposed of what stands at path; "" where nothing does.
func exposedFile(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return exposed(info)
}

// settingsFileError is what is wrong with a settings file, by its line. Parsers quote what they read, and that may be a secret.
func settingsFileError(path string, err error) error {
	var parse viper.ConfigParseError
	var kind viper.UnsupportedConfigError
	switch {
	case errors.As(err, &kind):
		return fmt.Errorf("settings file %s: want a name that ends in .yaml, .toml or .json", path)
	case !errors.As(err, &parse):
		return fmt.Errorf("settings file %s: %w", path, withoutPath(err))
	}
	return fmt.Errorf("settings file %s%s: cannot parse it as its name suggests (its text is not shown: it may hold a secret)",
		path, lineOf(path, parse.Unwrap()))
}

// yamlLine is how the YAML parser begins an error whose line it knows.
var yamlLine = regexp.MustCompile(`^yaml: (?:unmarshal errors:\n  )?line ([0-9]+):`)

// lineOf is ", line N" of a parser's error; "" where it does not say.
func lineOf(path string, err error) string {
	var inTOML *toml.DecodeError
	var inJSON *json.SyntaxError
	switch {
	case errors.As(err, &inTOML):
		row, _ := inTOML.Position()
		return fmt.Sprintf(", line %d", row)
	case errors.As(err, &inJSON):
		text := settingsText(path)
		return fmt.Sprintf(", line %d", 1+strings.Count(text[:min(len(text), int(inJSON.Offset))], "\n"))
	}
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		return ", line " + m[1]
	}
	return ""
}

// lineOfKey is ", line N" of a setting in a settings file: where the last of its names stands after the others; "" where it is not found.
func lineOfKey(path, key string) string {
	text := strings.ToLower(settingsText(path)) // as viper has its keys
	at := 0
	for _, name := range strings.Split(key, ".") {
		found := regexp.MustCompile(`(?:^|[^a-z0-9_])` + regexp.QuoteMeta(name) + `(?:[^a-z0-9_]|$)`).FindStringIndex(text[at:])
		if found == nil {
			return ""
		}
		at += found[1] - 1 // what follows it may begin the next one
	}
	return fmt.Sprintf(", line %d", 1+strings.Count(text[:max(at, 0)], "\n"))
}

// settingsText is a settings file's text once more; "" if it cannot be read.
func settingsText(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // read only: nothing is lost
	text, err := io.ReadAll(io.LimitReader(f, maxSettingsFile))
	if err != nil {
		return ""
	}
	return string(text)
}
