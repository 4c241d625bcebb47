// Package githubapi checks conversations with GitHub against GitHub's own description of itself.
//
// A [Checker] stands between a client and a server, as an http.RoundTripper or as an http.Handler. Every REST request and
// answer is checked against GitHub's OpenAPI description; every GraphQL query is validated against GitHub's schema and
// against the limits that GitHub puts on connections, and every answer against the types that the query asks for: fields,
// nullability, enums. What does not fit is reported as an error of the test; the conversation itself is never changed.
//
// Answers that GitHub really gives but does not describe (401, rate limits, a rejected status) are listed in one table
// and must carry a message. Bodies of 5xx answers and bodies that break off are faults, not answers, and are not looked at.
// The prefix of an Enterprise Server (/api/v3, /api/graphql) is taken off first; git's own protocol below OWNER/NAME.git is let pass.
package githubapi
