// Package spec holds the description of the repository's file: sluice-yaml.md for people, and the JSON Schema that stands
// beside it for editors and for package config, which embeds it from here so that there is one copy.
package spec

import _ "embed"

// Schema is the JSON Schema (draft 2020-12) of the repository's file.
//
//go:embed sluice.schema.json
var Schema string
