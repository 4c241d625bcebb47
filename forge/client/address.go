package client

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// publicREST is github.com's REST API.
const publicREST = "https://api.github.com/"

// addresses are where REST (with a slash at its end) and GraphQL are found.
type addresses struct{ rest, graphQL *url.URL }

// locate derives the addresses as GitHub lays them out: api.github.com and api.TENANT.ghe.com have /graphql beside REST, an
// Enterprise Server has /api/graphql beside /api/v3.
func locate(rest, graphQL string) (addresses, error) {
	r, err := parseURL(cmp.Or(rest, publicREST))
	if err != nil {
		return addresses{}, fmt.Errorf("github.url: %w", err)
	}
	if r.Host == "github.com" || r.Host == "www.github.com" {
		return addresses{}, errors.New("github.url: this is the web site; the API is " + publicREST)
	}
	r.Path = strings.TrimRight(r.Path, "/") + "/"
	if graphQL != "" {
		g, err := parseURL(graphQL)
		if err != nil {
			return addresses{}, fmt.Errorf("github.graphql_url: %w", err)
		}
		return addresses{rest: r, graphQL: g}, nil
	}
	g := *r
	if base, ok := strings.CutSuffix(r.Path, "/api/v3/"); ok {
		g.Path = base + "/api/graphql"
	} else {
		g.Path = r.Path + "graphql"
	}
	return addresses{rest: r, graphQL: &g}, nil
}

// GraphQL is where GraphQL is found beside a REST API.
func GraphQL(rest string) (string, error) {
	at, err := locate(rest, "")
	if err != nil {
		return "", err
	}
	return at.graphQL.String(), nil
}

// parseURL takes an absolute http or https address. What it refuses it does not repeat: it may hold a password.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("not an address")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, errors.New("must begin with https:// or http:// and a host")
	case u.User != nil:
		return nil, errors.New("must not hold a name or password")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("must not hold a query or fragment")
	}
	return u, nil
}
