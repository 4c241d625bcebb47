package standin

import (
	"encoding/base64"
	"errors"
	"net/http"
	"path"
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
		g.inRepo("GET /git/blobs/{file_sha}", readContents, getBlob),
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
		one := object{"path": e.path, "mode": e.mode, "type": e.kind, "sha": e.sha, "url": api + e.kind + "s/" + e.sha}
		if e.kind == "blob" {
			if one["size"], err = r.git.size(e.sha); err != nil {
				return answer{}, err
			}
		}
		out = append(out, one)
	}
	return ok(object{"sha": o.sha, "url": api + "trees/" + o.sha, "tree": out, "truncated": len(list) > maxTree})
}

func getBlob(c *call, r *Repo) (answer, error) {
	o, err := r.git.cat.contents(c.r.PathValue("file_sha"))
	if err != nil {
		return answer{}, err
	}
	if o.kind != "blob" {
		return answer{}, notFound()
	}
	return ok(object{
		"sha": o.sha, "node_id": nodeID("Blob", o.sha), "size": o.size, "url": r.g.api() + "/repos/" + r.String() + "/git/blobs/" + o.sha,
		"content": base64.StdEncoding.EncodeToString(o.data), "encoding": "base64",
	})
}

// getContents gives a file or lists a directory. https://docs.github.com/en/rest/repos/contents
func getContents(c *call, r *Repo) (answer, error) {
	sha, err := r.resolve(c.r.URL.Query().Get("ref"))
	if err != nil {
		return answer{}, err
	}
	at := strings.Trim(c.r.PathValue("path"), "/")
	if sha == "" || at != "" && !validPath(at) {
		return answer{}, notFound()
	}
	o, err := r.git.cat.contents(sha + ":" + at)
	if err != nil {
		return answer{}, err
	}
	switch o.kind {
	case "blob":
		if strings.Contains(c.r.Header.Get("Accept"), ".raw") {
			return answer{status: http.StatusOK, raw: append([]byte{}, o.data...)}, nil
		}
		file := r.entryJSON(sha, treeEntry{kind: "blob", sha: o.sha, path: at}, o.size)
		file["encoding"], file["content"] = "base64", base64.StdEncoding.EncodeToString(o.data)
		return ok(file)
	case "tree":
		list, err := r.git.level(o.sha)
		if err != nil {
			return answer{}, err
		}
		out := []object{}
		for _, e := range list {
			e.path = path.Join(at, e.path)
			size, err := r.git.size(e.sha)
			if err != nil {
				return answer{}, err
			}
			out = append(out, r.entryJSON(sha, e, size))
		}
		return ok(out)
	}
	return answer{}, notFound()
}

func (r *Repo) entryJSON(sha string, e treeEntry, size int64) object {
	repo, web := r.g.api()+"/repos/"+r.String(), r.g.web()+"/"+r.String()
	p := escapePath(e.path)
	self, git, html := repo+"/contents/"+p+"?ref="+sha, repo+"/git/"+e.kind+"s/"+e.sha, web+"/blob/"+sha+"/"+p
	kind := map[string]string{"blob": "file", "tree": "dir", "commit": "submodule"}[e.kind]
	return object{
		"name": path.Base(e.path), "path": e.path, "sha": e.sha, "size": size, "type": kind, "url": self, "git_url": git, "html_url": html,
		"download_url": web + "/raw/" + sha + "/" + p, "_links": object{"self": self, "git": git, "html": html},
	}
}

// putContents commits one file. https://docs.github.com/en/rest/repos/contents#create-or-update-file-contents
func putContents(c *call, r *Repo) (answer, error) {
	var ask struct{ Message, Content, SHA, Branch string }
	if err := c.read(&ask); err != nil {
		return answer{}, err
	}
	if ask.Branch == "" {
		ask.Branch = defaultBranch
	}
	at := c.r.PathValue("path")
	data, err := base64.StdEncoding.DecodeString(ask.Content)
	if err != nil || !validPath(at) {
		return answer{}, invalidField("Content", "content", "invalid")
	}
	tip, err := r.git.tip("refs/heads/" + ask.Branch)
	if err != nil {
		return answer{}, err
	}
	if tip == "" {
		return answer{}, refuse(http.StatusNotFound, msgNoBranchNamed, ask.Branch)
	}
	old, err := r.git.cat.info(tip + ":" + at)
	if err != nil {
		return answer{}, err
	}
	if old.sha != ask.SHA {
		return answer{}, refuse(http.StatusConflict, msgBlobDiffers, at, ask.SHA)
	}
	if err := r.forbids(move{by: c.who.actor, owner: r.owner, branch: ask.Branch, before: tip, after: zeroSHA, unread: true}); err != nil { // a commit without checks
		return answer{}, err
	}
	sha, err := r.commit(ask.Branch, Change{By: c.who.actor.rest(), Message: ask.Message, Write: map[string]string{at: string(data)}})
	if err != nil {
		return answer{}, err
	}
	return r.wroteContents(sha, at, old.sha == "")
}

func (r *Repo) wroteContents(sha, at string, created bool) (answer, error) {
	o, err := r.git.cat.info(sha + ":" + at)
	if err != nil {
		return answer{}, err
	}
	one, err := r.git.commit(sha)
	if err != nil {
		return answer{}, err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return answer{status: status, body: object{
		"content": r.entryJSON(sha, treeEntry{kind: "blob", sha: o.sha, path: at}, o.size), "commit": r.commitJSON(one)["commit"],
	}}, nil
}
