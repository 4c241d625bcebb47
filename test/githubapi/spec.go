package githubapi

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
)

//go:embed openapi/subset.api.github.com.json.gz
var openapiGz []byte

//go:embed graphql/schema.graphql.gz
var graphqlGz []byte

// spec is both descriptions, ready to check against. Only what is known of queries grows.
type spec struct {
	router routers.Router
	schema *ast.Schema
	valid  sync.Map // a query's text → its *ast.QueryDocument
}

// load reads the descriptions once in a process: that takes a fifth of a second.
var load = sync.OnceValues(func() (*spec, error) {
	router, err := loadOpenAPI()
	if err != nil {
		return nil, err
	}
	schema, err := Schema()
	if err != nil {
		return nil, err
	}
	return &spec{router: router, schema: schema}, nil
})

// Schema is GitHub's GraphQL schema.
var Schema = sync.OnceValues(func() (*ast.Schema, error) {
	text, err := unzip(graphqlGz)
	if err != nil {
		return nil, fmt.Errorf("read GraphQL schema: %w", err)
	}
	doc, err := parser.ParseSchemas(validator.Prelude, &ast.Source{Name: "github", Input: string(text)})
	if err != nil {
		return nil, fmt.Errorf("parse GraphQL schema: %w", err)
	}
	cutDuplicates(doc)
	schema, err := validator.ValidateSchemaDocument(doc)
	if err != nil {
		return nil, fmt.Errorf("validate GraphQL schema: %w", err)
	}
	return schema, nil
})

// cutDuplicates removes the second of two fields of one name: GitHub's schema has some in EnterpriseOwnerInfo, which a
// strict parser refuses.
func cutDuplicates(doc *ast.SchemaDocument) {
	for _, def := range doc.Definitions {
		seen := map[string]bool{}
		kept := def.Fields[:0:0]
		for _, f := range def.Fields {
			if !seen[f.Name] {
				seen[f.Name] = true
				kept = append(kept, f)
			}
		}
		def.Fields = kept
	}
}

func loadOpenAPI() (routers.Router, error) {
	text, err := unzip(openapiGz)
	if err != nil {
		return nil, fmt.Errorf("read OpenAPI: %w", err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, fmt.Errorf("load OpenAPI: %w", err)
	}
	doc.Servers = nil // requests come to whatever host a test uses
	mend(doc)
	waiveLinks(doc)
	widen(doc)
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, fmt.Errorf("route OpenAPI: %w", err)
	}
	return router, nil
}

// mend undoes a slip of the description: in the list of installations an account is said to be a user and an enterprise at
// once, where the single installation rightly says either.
func mend(doc *openapi3.T) {
	list := doc.Paths.Value("/app/installations").Get.Responses.Status(http.StatusOK).Value
	item := list.Content.Get("application/json").Schema.Value.Items.Value
	account := item.Properties["account"].Value
	account.AnyOf, account.AllOf = account.AllOf, nil
}

// waiveLinks lets answers do without the links that GitHub's have, some twenty in each user: nobody reads them. One that is there must
// still be one. A file keeps contents_url: it names the commit that a file was listed for, and is read.
func waiveLinks(doc *openapi3.T) {
	seen := map[*openapi3.Schema]bool{}
	var waive func(ref *openapi3.SchemaRef)
	waive = func(ref *openapi3.SchemaRef) {
		if ref == nil || ref.Value == nil || seen[ref.Value] {
			return
		}
		s := ref.Value
		seen[s] = true
		_, file := s.Properties["filename"]
		s.Required = slices.DeleteFunc(s.Required, func(name string) bool {
			return name == "_links" || strings.HasSuffix(name, "url") && (!file || name != "contents_url")
		})
		waive(s.Items)
		for _, property := range s.Properties {
			waive(property)
		}
		for _, part := range slices.Concat(s.AllOf, s.AnyOf, s.OneOf) {
			waive(part)
		}
	}
	for _, item := range doc.Paths.Map() {
		for _, operation := range item.Operations() {
			for _, answer := range operation.Responses.Map() {
				for _, media := range answer.Value.Content {
					waive(media.Schema)
				}
			}
		}
	}
}

// widen lets the parameters that may hold slashes hold them: names of branches and paths of files.
func widen(doc *openapi3.T) {
	wide := strings.NewReplacer("{ref}", "{ref:.+}", "{path}", "{path:.+}", "{basehead}", "{basehead:.+}", "{branch}", "{branch:.+}")
	paths := openapi3.NewPaths()
	for name, item := range doc.Paths.Map() {
		paths.Set(wide.Replace(name), item)
	}
	doc.Paths = paths
}

func unzip(data []byte) (text []byte, err error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return io.ReadAll(io.LimitReader(r, maxBody))
}
