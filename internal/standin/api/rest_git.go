package api

import (
	"net/http"
	"strings"

	"github.com/sluicegate/sluice/internal/standin"
)

// maxTree is how many entries a recursive tree lists: https://docs.github.com/en/rest/git/trees#get-a-tree
const maxTree = 100_000

// getRef gives a branch; no client asks for another ref. https://docs.github.com/en/rest/git/refs#get-a-reference
func getRef(c *call, r *standin.Repo) (answer, error) {
	branch, _ := strings.CutPrefix(c.r.PathValue("ref"), "heads/")
	sha, err := newView(c.s, c.who, cost{}).tip(r, branch)
	if err == nil && sha == "" {
		err = standin.ErrNotFound
	}
	ref := "refs/heads/" + branch
	url := c.s.api() + "/repos/" + r.String() + "/git/"
	return answer{status: http.StatusOK, body: object{
		"ref": ref, "node_id": nodeID("Ref", r.String()+ref), "url": url + ref, "object": object{"type": "commit", "sha": sha, "url": url + "commits/" + sha},
	}}, err
}

// deleteRef deletes a branch; 422 if there is none. https://docs.github.com/en/rest/git/refs#delete-a-reference
func deleteRef(c *call, r *standin.Repo) (answer, error) {
	err := r.UpdateRefs(c.who.actor, []standin.RefUpdate{{Name: "refs/" + c.r.PathValue("ref"), AfterOID: standin.ZeroSHA}})
	return answer{status: http.StatusNoContent}, err
}

// getTree lists all of a tree; no client asks for one level of it. https://docs.github.com/en/rest/git/trees#get-a-tree
func getTree(c *call, r *standin.Repo) (answer, error) {
	root, err := r.Git().Find(c.r.PathValue("tree_sha") + "^{tree}")
	if err != nil {
		return answer{}, err
	}
	list, err := r.Git().Tree(root.SHA)
	if err != nil {
		return answer{}, err
	}
	out := objects(list[:min(len(list), maxTree)], func(e standin.TreeEntry) object {
		return object{"path": e.Path, "mode": e.Mode, "type": e.Kind, "sha": e.SHA}
	})
	return ok(object{"sha": root.SHA, "tree": out, "truncated": len(list) > maxTree})
}
