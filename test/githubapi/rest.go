package githubapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// undescribed are the answers that GitHub gives although its OpenAPI description does not list them for the operation.
// The key is "METHOD path", or "" for every operation.
var undescribed = map[string][]int{
	// A bad or expired token; a token without the permission, and both kinds of rate limit; a repository that the token
	// cannot see; https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api
	"": {http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests},
	// A description longer than 140 characters, an unknown commit, the 1001st status of a commit and context.
	"POST /repos/{owner}/{repo}/statuses/{sha}": {http.StatusUnprocessableEntity},
	// "No commit found for SHA: x"
	"GET /repos/{owner}/{repo}/commits/{ref:.+}/statuses": {http.StatusUnprocessableEntity},
}

// checkREST checks one conversation against the OpenAPI description.
func (s *spec) checkREST(v conversation) []string {
	r := v.request.Clone(v.request.Context())
	r.URL.Path = strings.TrimPrefix(r.URL.Path, "/api/v3")
	r.URL.RawPath = strings.TrimPrefix(r.URL.RawPath, "/api/v3")
	r.Body = io.NopCloser(bytes.NewReader(v.sent))
	route, params, err := s.router.FindRoute(r)
	if err != nil {
		if v.status == http.StatusNotFound {
			return nil // asked for what GitHub has not, and told so
		}
		return []string{fmt.Sprintf("GitHub's description has no such operation: %v", err)}
	}
	in := &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{
			AuthenticationFunc:    openapi3filter.NoopAuthenticationFunc,
			IncludeResponseStatus: true,
			SkipSettingDefaults:   true,
		},
	}
	var problems []string
	if v.status != http.StatusBadRequest && v.status != http.StatusUnprocessableEntity {
		problems = append(problems, requestProblems(in, v)...) // else it was wrong, and was told so
	}
	return append(problems, responseProblems(in, v)...)
}

func requestProblems(in *openapi3filter.RequestValidationInput, v conversation) []string {
	if bytes.Equal(bytes.TrimSpace(v.sent), []byte("null")) { // what Go writes for no options; GitHub takes it for no body
		v.sent, in.Request.Body = nil, http.NoBody
	}
	if len(v.sent) > 0 && in.Request.Header.Get("Content-Type") == "" {
		in.Request.Header.Set("Content-Type", "application/json") // GitHub takes every body for JSON
	}
	if len(v.sent) == 0 && in.Route.Operation.RequestBody != nil {
		in.Options.ExcludeRequestBody = !in.Route.Operation.RequestBody.Value.Required
	}
	if err := openapi3filter.ValidateRequest(in.Request.Context(), in); err != nil {
		return []string{"request: " + sentence(err)}
	}
	return nil
}

func responseProblems(in *openapi3filter.RequestValidationInput, v conversation) []string {
	if v.status >= http.StatusInternalServerError {
		return nil
	}
	known := in.Route.Operation.Responses.Status(v.status) != nil
	if !known && isUndescribed(in.Route, v.status) {
		return basicError(v)
	}
	header := v.header.Clone()
	if t, _, found := strings.Cut(header.Get("Content-Type"), ";"); found {
		header.Set("Content-Type", t)
	}
	err := openapi3filter.ValidateResponse(in.Request.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: v.status, Header: header,
		Body: io.NopCloser(bytes.NewReader(v.got)), Options: in.Options,
	})
	if err != nil && v.status >= http.StatusBadRequest && strings.Contains(err.Error(), "more than one oneOf") {
		return basicError(v) // a slip of the description: a plain refusal is one of a broken rule too, whose fields are all optional
	}
	if err != nil {
		return []string{fmt.Sprintf("answer %d: %s", v.status, sentence(err))}
	}
	return nil
}

func isUndescribed(route *routers.Route, status int) bool {
	return slices.Contains(undescribed[""], status) || slices.Contains(undescribed[route.Method+" "+route.Path], status)
}

// basicError checks the shape that every refusal of GitHub has.
func basicError(v conversation) []string {
	var e struct {
		Message string `json:"message"`
	}
	if err := json.Unmarshal(v.got, &e); err != nil || e.Message == "" {
		return []string{fmt.Sprintf("answer %d has no message: %.200s", v.status, v.got)}
	}
	return nil
}

// sentence is the sentence of an error without the schema and the value that kin-openapi appends.
func sentence(err error) string {
	text := err.Error()
	var response *openapi3filter.ResponseError
	if errors.As(err, &response) && response.Err != nil {
		text = response.Reason + ": " + response.Err.Error()
	}
	text, _, _ = strings.Cut(text, "\nSchema:")
	return fmt.Sprintf("%.600s", text)
}
