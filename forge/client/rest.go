package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"

	json "github.com/go-json-experiment/json/v1"
	"github.com/google/go-github/v60/github"
)

// Get reads a REST resource into v. An empty answer is none.
func (c *Installation) Get(ctx context.Context, u string, v any) error {
	_, err := c.GetPage(ctx, u, v)
	return err
}

// GetPage is Get for one page of a list. It gives the number of the next one; 0: there is none.
func (c *Installation) GetPage(ctx context.Context, u string, v any) (next int, err error) {
	resp, err := c.call(ctx, http.MethodGet, u, nil, v)
	if err != nil {
		return 0, sorted(ctx, err)
	}
	return resp.NextPage, nil
}

// Send makes one REST request that changes something, with a body as JSON, and gives the answer's code. With a v of nil the answer's body
// is not looked at; nor is it where GitHub says that it will do later what was asked.
func (c *Installation) Send(ctx context.Context, method, u string, body, v any) (code int, err error) {
	resp, err := c.call(ctx, method, u, body, v)
	if accepted := new(github.AcceptedError); errors.As(err, &accepted) {
		return http.StatusAccepted, nil
	}
	if err != nil {
		return 0, sorted(ctx, err)
	}
	return resp.StatusCode, nil
}

// call makes one REST request, and reads of the answer what v has.
func (c *Installation) call(ctx context.Context, method, u string, body, v any) (*github.Response, error) {
	req, err := c.rest.NewRequest(method, u, body)
	if err != nil {
		return nil, err
	}
	if v == nil {
		return c.rest.Do(ctx, req, nil)
	}
	var answer bytes.Buffer
	resp, err := c.rest.Do(ctx, req, &answer)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(answer.Bytes(), v); err != nil {
		return nil, Unreadable(err)
	}
	return resp, nil
}

// PageQuery asks for a page of a list, as long as GitHub's are.
func PageQuery(page int) string { return fmt.Sprintf("per_page=%d&page=%d", PerPage, page) }
