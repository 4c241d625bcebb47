package standin

import (
	"fmt"
	"net/http"
)

// apiError is a refusal in GitHub's manner.
type apiError struct {
	status  int
	message string
	errors  []object // of 422 answers
}

func (e *apiError) Error() string { return fmt.Sprintf("%d %s", e.status, e.message) }

// object is a JSON object.
type object = map[string]any

func refuse(status int, format string, args ...any) *apiError {
	return &apiError{status: status, message: fmt.Sprintf(format, args...)}
}

func notFound() *apiError { return refuse(http.StatusNotFound, msgNotFound) }

// invalid is the answer to a well-formed request that makes no sense: 422 with "Validation Failed".
func invalid(resource, message string) *apiError {
	return unprocessable(object{"resource": resource, "code": "custom", "message": message})
}

func invalidField(resource, field, code string) *apiError {
	return unprocessable(object{"resource": resource, "field": field, "code": code})
}

func unprocessable(what object) *apiError {
	return &apiError{status: http.StatusUnprocessableEntity, message: msgValidation, errors: []object{what}}
}
