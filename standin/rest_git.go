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
		g.inRepo("GET /git/ref/{ref...}", readContents, getRef),
		g.inRepo("POST /git/refs", writeContents, createRef),
		g.inRepo("PATCH /git/refs/{ref...}", writeContents, updateRef),
		g.inRepo("DELETE /git/refs/{ref...}", writeContents, deleteRef),
		g.inRepo("GET /git/trees/{tree_sha}", readContents, getTree),
	}
}

func (r *Repo) refJSON(name, sha string) object {
	api := r.g.api() + "/repos/" + r.String() + "/git/"
	return object{
		"ref": name, "node_id": nodeID("Ref", name), "url": api + name,
		"object": object{"type": "commit", "sha": sha, "url": api + "commits/" + sha},
	}
}

func getRef(c *call, r *Repo) (answer, error) {
	name := "refs/" + c.r.PathValue("ref")
	sha, err := r.git.tip(name)
	if err != nil {
		return answer{}, err
	}
	if sha == "" || hidden(name) {
		return answer{}, notFound()
	}
	return ok(r.refJSON(name, sha))
}

// hidden are refs that are the stand-in's own business.
func hidden(name string) bool { return strings.HasPrefix(name, "refs/forks/") }

func createRef(c *call, r *Repo) (answer, error) {
	var ask struct{ Ref, SHA string }
	if err := c.read(&ask); err != nil {
		return answer{}, err
	}
	old, err := r.git.tip(ask.Ref)
	if err != nil {
		return answer{}, err
	}
	if old != "" {
		return answer{}, refuse(http.StatusUnprocessableEntity, msgRefExists)
	}
	err = r.updateRefs(c.who.actor, []refUpdate{{Name: ask.Ref, BeforeOID: &zeroSHA, AfterOID: ask.SHA}})
	return answer{status: http.StatusCreated, body: r.refJSON(ask.Ref, ask.SHA)}, err
}

// refOf is the branch that a path names; 422 if it does not exist.
func refOf(c *call, r *Repo) (name string, err error) {
	name = "refs/" + c.r.PathValue("ref")
	tip, err := r.git.tip(name)
	if err == nil && tip == "" {
		err = refuse(http.StatusUnprocessableEntity, msgNoReference)
	}
	return name, err
}

// updateRef moves a branch, forward only unless forced, with no way to name the old value.
// https://docs.github.com/en/rest/git/refs#update-a-reference
func updateRef(c *call, r *Repo) (answer, error) {
	var ask struct {
		SHA   string
		Force bool
	}
	if err := c.read(&ask); err != nil {
		return answer{}, err
	}
	name, err := refOf(c, r)
	if err != nil {
		return answer{}, err
	}
	err = r.updateRefs(c.who.actor, []refUpdate{{Name: name, AfterOID: ask.SHA, Force: ask.Force}})
	return answer{status: http.StatusOK, body: r.refJSON(name, ask.SHA)}, err
}

func deleteRef(c *call, r *Repo) (answer, error) {
	name, err := refOf(c, r)
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusNoContent}, r.updateRefs(c.who.actor, []refUpdate{{Name: name, AfterOID: zeroSHA}})
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
	api := r.g.api() + "/repos/" + r.String() + "/git/"
	out := []object{}
	for _, e := range list[:min(len(list), maxTree)] {
		out = append(out, object{"path": e.path, "mode": e.mode, "type": e.kind, "sha": e.sha, "url": api + e.kind + "s/" + e.sha})
	}
	return ok(object{"sha": o.sha, "url": api + "trees/" + o.sha, "tree": out, "truncated": len(list) > maxTree})
}
