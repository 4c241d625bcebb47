package standin

import (
	"errors"
	"net/http"
	"strings"
)

// maxTree is how many entries a recursive tree lists: https://docs.github.com/en/rest/git/trees#get-a-tree
const maxTree = 100_000

// gitRoutes are about refs, trees and files. https://docs.github.com/en/rest/git
func (g *GitHub) gitRoutes() []route {
	return []route{
		g.inRepo("GET /git/ref/{ref...}", readContents, getRef),
		g.inRepo("POST /git/refs", writeContents, locked(createRef)),
		g.inRepo("PATCH /git/refs/{ref...}", writeContents, locked(updateRef)),
		g.inRepo("DELETE /git/refs/{ref...}", writeContents, locked(deleteRef)),
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
	branch, isBranch := strings.CutPrefix(ask.Ref, "refs/heads/")
	if !isBranch || !validRef(ask.Ref) {
		return answer{}, refuse(http.StatusUnprocessableEntity, msgBadRef)
	}
	old, err := r.git.tip(ask.Ref)
	if err != nil {
		return answer{}, err
	}
	if old != "" {
		return answer{}, refuse(http.StatusUnprocessableEntity, msgRefExists)
	}
	if err := r.moveByREST(move{by: c.who.actor, owner: r.owner, branch: branch, after: ask.SHA}); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusCreated, body: r.refJSON(ask.Ref, ask.SHA)}, nil
}

// branchOf is the branch that a path names, with where it points; 422 if it does not exist.
func branchOf(c *call, r *Repo) (branch, tip string, err error) {
	branch, isBranch := strings.CutPrefix(c.r.PathValue("ref"), "heads/")
	if isBranch {
		tip, err = r.git.tip("refs/heads/" + branch)
	}
	if err == nil && tip == "" {
		err = refuse(http.StatusUnprocessableEntity, msgNoReference)
	}
	return branch, tip, err
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
	branch, tip, err := branchOf(c, r)
	if err != nil {
		return answer{}, err
	}
	m := move{by: c.who.actor, owner: r.owner, branch: branch, before: tip, after: ask.SHA}
	if _, err := r.git.commit(ask.SHA); err != nil {
		return answer{}, refuse(http.StatusUnprocessableEntity, msgObjectMissing)
	}
	if !ask.Force && !r.forward(m) {
		return answer{}, refuse(http.StatusUnprocessableEntity, msgNotFastForward)
	}
	if ask.SHA != tip {
		if err := r.moveByREST(m); err != nil {
			return answer{}, err
		}
	}
	return ok(r.refJSON("refs/heads/"+branch, ask.SHA))
}

func deleteRef(c *call, r *Repo) (answer, error) {
	branch, tip, err := branchOf(c, r)
	if err != nil {
		return answer{}, err
	}
	if branch == defaultBranch {
		return answer{}, refuse(http.StatusUnprocessableEntity, msgDefaultBranch)
	}
	return answer{status: http.StatusNoContent}, r.moveByREST(move{by: c.who.actor, owner: r.owner, branch: branch, before: tip})
}

// moveByREST moves, makes or deletes a branch if its rules allow it.
func (r *Repo) moveByREST(m move) error {
	if m.after != "" {
		if _, err := r.git.commit(m.after); err != nil {
			return refuse(http.StatusUnprocessableEntity, msgObjectMissing)
		}
	}
	if err := r.forbids(m); err != nil {
		return err
	}
	err := r.git.move("refs/heads/"+m.branch, m.after, m.before)
	if errors.Is(err, errMoved) {
		return refuse(http.StatusConflict, msgRefMoved)
	}
	if err != nil {
		return err
	}
	return r.moved(m)
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
	o, err := r.git.cat.info(name + "^{tree}")
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
