package config

import "github.com/sluicegate/sluice/docs/spec"

// Schema is the JSON Schema (draft 2020-12) of the file, for editors. It says of keys, types, words and bounds what Parse
// says; what needs a second look (zones, crons, names that must exist) only Parse knows.
func Schema() []byte { return []byte(spec.Schema) }
