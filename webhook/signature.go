package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// The headers of signatures.
const (
	githubSignature = "X-Hub-Signature-256"
	fluxSignature   = "X-Signature"
)

// claimed gives the signature that a request claims; false if it has none that could be right. It is asked before the body
// is read: a stranger who does not even try sends us nothing.
func claimed(h http.Header, name string) ([]byte, bool) {
	values := h.Values(name)
	if len(values) != 1 {
		return nil, false // two answers to one question: fail closed
	}
	text, found := strings.CutPrefix(values[0], "sha256=")
	if !found || len(text) != hex.EncodedLen(sha256.Size) {
		return nil, false
	}
	sum, err := hex.DecodeString(text)
	return sum, err == nil
}

// signed reports whether a signature is the secret's over a body, in constant time. Without a secret none is.
func signed(secret, body, sum []byte) bool {
	if len(secret) == 0 {
		return false // fail closed: anybody can sign with an empty key
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	return hmac.Equal(mac.Sum(nil), sum)
}

// fluxToken is the token of one repository, OWNER/REPO in any case: what a cluster may hold that shall speak for no other. It follows from
// Flux's secret as docs/windowed-branches.md says, and nothing needs to be kept; the secret does not follow from it.
func fluxToken(secret []byte, name string) []byte {
	if len(secret) == 0 {
		return nil // fail closed, as signed does
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(strings.ToLower(name)))
	return []byte(hex.EncodeToString(mac.Sum(nil)))
}
