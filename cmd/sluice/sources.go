package main

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"github.com/sluicegate/sluice/config"
)

// Settings have three sources: flags, the environment and a settings file. What none of them should say is an error, not a default.

// ofKubernetes are the variables that Kubernetes sets in each container of a namespace for a Service called sluice, or sluice-SOMETHING. So no
// setting may be called port, service_host or service_port, or begin with one of them.
var ofKubernetes = regexp.MustCompile(`^(SLUICE(?:_.+?)??)_(?:SERVICE_HOST|SERVICE_PORT(?:_.+)?|PORT(?:_[0-9]+_(?:TCP|UDP|SCTP)(?:_(?:ADDR|PORT|PROTO))?)?)$`)

// unknownVariables names the variables of an environment that look like settings and are none: nobody should run with a default for a typing
// mistake. Their values are not shown.
func unknownVariables(environ []string) []string {
	known := map[string]bool{gitToken: true} // that one is `sluice promote`'s
	for _, s := range knownSettings() {
		known[envName(s.key)] = true
	}
	set := map[string]bool{}
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		set[name] = true
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(set)) {
		service := ofKubernetes.FindStringSubmatch(name)
		switch {
		case known[name] || !strings.HasPrefix(name, "SLUICE_"):
		case service != nil && (service[1] == "SLUICE" || set[service[1]+"_SERVICE_HOST"]):
		default:
			out = append(out, fmt.Sprintf("variable %s: unknown setting%s", name, didYouMean(name, slices.Collect(maps.Keys(known)))))
		}
	}
	return out
}

// didYouMean is "; did you mean X?" for the known name that somebody most likely meant: one that is spelt alike, or the only one that has the same
// words in it or that the name goes on from; of a secret that may stand in a file, the secret. Where several may be meant, none is named.
func didYouMean(name string, known []string) string {
	lower := map[string]string{}
	for _, k := range known {
		lower[strings.ToLower(k)] = k
	}
	words := slices.Sorted(maps.Keys(lower))
	name = strings.ToLower(name)
	meant := config.Nearest(name, words)
	if meant == "" {
		whole := func(name string) string { return "_" + strings.ReplaceAll(name, ".", "_") + "_" }
		bare := strings.TrimPrefix(name, "sluice_")
		near := slices.DeleteFunc(words, func(w string) bool {
			return !strings.Contains(whole(w), whole(bare)) && !strings.HasPrefix(whole(name), whole(w))
		})
		if len(near) > 0 && !slices.ContainsFunc(near, func(w string) bool { return !strings.HasPrefix(w, near[0]) }) {
			meant = near[0]
		}
	}
	if meant == "" {
		return "; docs/install.md lists the settings"
	}
	return "; did you mean " + lower[meant] + "?"
}

// readSettingsFile reads a settings file into v, which has nothing else yet.
func readSettingsFile(v *viper.Viper, path string) error {
	v.SetConfigFile(path)
	if err := v.ReadInConfig(); err != nil {
		return settingsFileError(path, err)
	}
	var known []string
	for _, s := range knownSettings() {
		known = append(known, s.key)
	}
	for _, key := range slices.Sorted(slices.Values(v.AllKeys())) {
		for _, k := range known {
			_, list := v.Get(key).([]any)
			if strings.HasPrefix(key, k+".") || key == k && list {
				return fmt.Errorf("settings file %s%s: setting %s: want one value, in quotes if it is text", path, lineOfKey(path, k), k)
			}
		}
		if !slices.Contains(known, key) {
			return fmt.Errorf("settings file %s%s: unknown setting%s", path, lineOfKey(path, key), didYouMean(key, known))
		}
	}
	return nil
}

// sources says where settings come from.
type sources struct {
	flags *pflag.FlagSet
	file  *viper.Viper // whose configuration is the settings file
	path  string       // of that; "": there is none
}

// of is where a setting was set, the weightiest place of several; "": nowhere.
func (s sources) of(key string) string {
	if f := s.flags.Lookup(key); f != nil && f.Changed {
		return "--" + key
	}
	if os.Getenv(envName(key)) != "" {
		return envName(key)
	}
	if s.file.InConfig(key) {
		return "settings file " + s.path + lineOfKey(s.path, key)
	}
	return ""
}

// from is " (from SOURCE)" of a setting, for an error; "" for one that has its default.
func (s sources) from(key string) string {
	if source := s.of(key); source != "" {
		return " (from " + source + ")"
	}
	return ""
}

// twice is the error of a secret that is given both as text and by the name of a file: which of them counts would be a guess.
func (s sources) twice(key string) error {
	text, file := s.of(key), s.of(key+"_file")
	if text == "" || file == "" {
		return nil
	}
	return fmt.Errorf("settings %s (from %s) and %s_file (from %s): want one of them", key, text, key, file)
}

func checkListen(address string) error {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return errors.New("want HOST:PORT, such as 127.0.0.1:8080")
	}
	return nil
}
