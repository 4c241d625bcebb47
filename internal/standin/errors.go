package standin

import (
	"fmt"
	"net/http"
)

// Refusal is a refusal in GitHub's manner.
type Refusal struct {
	Status  int
	Message string
	Errors  []object // of 422 answers
}

func (e *Refusal) Error() string { return fmt.Sprintf("%d %s", e.Status, e.Message) }

// object is a JSON object.
type object = map[string]any

// Refuse is a refusal with one of GitHub's messages.
func Refuse(status int, format string, args ...any) *Refusal {
	return &Refusal{Status: status, Message: fmt.Sprintf(format, args...)}
}

// invalid is the answer to a well-formed request that makes no sense: 422 with "Validation Failed".
func invalid(resource, message string) *Refusal {
	return unprocessable(object{"resource": resource, "code": "custom", "message": message})
}

func invalidField(resource, field, code string) *Refusal {
	return unprocessable(object{"resource": resource, "field": field, "code": code})
}

func unprocessable(what object) *Refusal {
	return &Refusal{Status: http.StatusUnprocessableEntity, Message: msgValidation, Errors: []object{what}}
}

// unfit refuses a well-formed request.
func unfit(format string, args ...any) error {
	return Refuse(http.StatusUnprocessableEntity, format, args...)
}
