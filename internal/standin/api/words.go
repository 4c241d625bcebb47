package api

import "strconv"

// GitHub's own words for what its API refuses by itself, as people have quoted them in public.
const (
	msgNotFound         = "Not Found"
	msgBadCredentials   = "Bad credentials"
	msgAuthRequired     = "Requires authentication"
	msgBadJWT           = "A JSON web token could not be decoded"
	msgJWTExpired       = "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires"
	msgJWTTooFar        = "'Expiration time' claim ('exp') is too far in the future"
	msgJWTIssued        = "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
	msgJWTIssuer        = "'Issuer' claim ('iss') must be an Integer"
	msgNoMessage        = "Message is required"
	msgNoIntegration    = "Resource not accessible by integration"
	msgSuspended        = "This installation has been suspended"
	msgBadJSON          = "Problems parsing JSON"
	msgPrimaryLimit     = "API rate limit exceeded for installation ID %d."
	msgSecondaryLimit   = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
	msgMerged           = "Pull Request successfully merged"
	msgUpdating         = "Updating pull request branch." // 202: update-branch
	msgTooLarge         = "Request body too large"
	msgInstallationOnly = "You must authenticate with an installation access token in order to list repositories for an installation."
	msgNoAncestor       = "No common ancestor between %s and %s."
	msgNoNode           = "to a node with the global id of '%s'."                                              // 200
	msgManyNodes        = "This query requests up to %s possible nodes which exceeds the maximum limit of %s." // 200: pyvec/python.cz#250
	msgNoCommit         = "No commit found for SHA: %s"                                                        // 422
	msgNoBranch         = "Branch not found"
)

// thousands writes a number as GitHub does in its messages: 500,000.
func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
