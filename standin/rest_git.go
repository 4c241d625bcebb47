package standin

import (
	"net/http"
	"strings"
)

// maxTree is how many entries a recursive tree lists: https://docs.github.com/en/rest/git/trees#get-a-tree
const maxTree = 100_000

// gitRoutes are about refs, trees and files. https://docs.github.com/en/rest/git
func (g *GitHub) gitRoutes() []route {
	return []route{
		g.inRepo("DELETE /git/refs/{ref...}", writer, deleteRef),
		g.inRepo("GET /git/trees/{tree_sha}", reader, getTree),
	}
}

// hidden reports whether a ref is the stand-in's own, and is not listed.
func hidden(name string) bool { return strings.HasPrefix(name, "refs/forks/") }

// deleteRef deletes a branch; 422 if there is none. https://docs.github.com/en/rest/git/refs#delete-a-reference
func deleteRef(c *call, r *Repo) (answer, error) {
	err := r.updateRefs(c.who.actor, []refUpdate{{Name: "refs/" + c.r.PathValue("ref"), AfterOID: zeroSHA}})
	return answer{status: http.StatusNoContent}, err
}

func getTree(c *call, r *Repo) (answer, error) {
	name := c.r.PathValue("tree_sha")
	if !fullSHA.MatchString(name) {
		sha, err := r.resolve(name)
		if err != nil {
			return answer{}, err
		}
		name = sha
	}
	o, err := r.git.find(name + "^{tree}")
	if err != nil {
		return answer{}, err
	}
	if o.sha == "" {
		return answer{}, notFound()
	}
	read := r.git.level
	if c.r.URL.Query().Get("recursive") != "" {
		read = r.git.tree
	}
	list, err := read(o.sha)
	if err != nil {
		return answer{}, err
	}
	out := objects(list[:min(len(list), maxTree)], func(e treeEntry) object {
		return object{"path": e.path, "mode": e.mode, "type": e.kind, "sha": e.sha}
	})
	return ok(object{"sha": o.sha, "tree": out, "truncated": len(list) > maxTree})
}
