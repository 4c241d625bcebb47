package api

import (
	"net/http"
	"strings"

	gitobject "github.com/go-git/go-git/v5/plumbing/object"

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
	return answer{status: http.StatusOK, body: c.refJSON(r, "refs/heads/"+branch, sha)}, err
}

func (c *call) refJSON(r *standin.Repo, ref, sha string) object {
	url := c.s.api() + "/repos/" + r.String() + "/git/"
	return object{
		"ref": ref, "node_id": nodeID("Ref", r.String()+ref), "url": url + ref, "object": object{"type": "commit", "sha": sha, "url": url + "commits/" + sha},
	}
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
	out := each(list[:min(len(list), maxTree)], func(e standin.TreeEntry) object {
		return object{"path": e.Path, "mode": e.Mode, "type": e.Kind, "sha": e.SHA}
	})
	return ok(object{"sha": root.SHA, "tree": out, "truncated": len(list) > maxTree})
}

// createTree makes a tree of files whose contents are given. https://docs.github.com/en/rest/git/trees#create-a-tree
func createTree(c *call, r *standin.Repo, ask struct {
	BaseTree string `json:"base_tree"`
	Tree     []struct{ Path, Content string }
}) (answer, error) {
	files := map[string]string{}
	for _, f := range ask.Tree {
		files[f.Path] = f.Content
	}
	sha, err := r.Git().Plant(ask.BaseTree, files)
	if err != nil {
		return answer{}, err
	}
	c.r.SetPathValue("tree_sha", sha)
	made, err := getTree(c, r)
	made.status = http.StatusCreated
	return made, err
}

// createCommit makes a commit by the caller. https://docs.github.com/en/rest/git/commits#create-a-commit
func createCommit(c *call, r *standin.Repo, ask struct {
	Message, Tree string
	Parents       []string
}) (answer, error) {
	login := c.who.actor.Login
	who := gitobject.Signature{Name: login, Email: login + "@users.noreply.github.com", When: c.s.Now().UTC()}
	sha, err := r.Git().Write(standin.Commit{Tree: ask.Tree, Parents: ask.Parents, Message: ask.Message, Author: who, Committer: who})
	url := c.s.api() + "/repos/" + r.String() + "/git/"
	return answer{status: http.StatusCreated, body: object{
		"sha": sha, "node_id": nodeID("Commit", r.String()+sha), "url": url + "commits/" + sha, "html_url": url + sha, "author": signatureJSON(who), "committer": signatureJSON(who),
		"message": ask.Message, "tree": object{"sha": ask.Tree, "url": url + "trees/" + ask.Tree},
		"parents":      each(ask.Parents, func(p string) object { return object{"sha": p, "url": url + "commits/" + p, "html_url": url + p} }),
		"verification": object{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil},
	}}, err
}

// createRef makes a branch; 422 if it is there. https://docs.github.com/en/rest/git/refs#create-a-reference
func createRef(c *call, r *standin.Repo, ask struct{ Ref, SHA string }) (answer, error) {
	none := standin.ZeroSHA
	err := r.UpdateRefs(c.who.actor, []standin.RefUpdate{{Name: ask.Ref, BeforeOID: &none, AfterOID: ask.SHA}})
	return answer{status: http.StatusCreated, body: c.refJSON(r, ask.Ref, ask.SHA)}, err
}

// updateRef moves a branch. https://docs.github.com/en/rest/git/refs#update-a-reference
func updateRef(c *call, r *standin.Repo, ask struct {
	SHA   string
	Force bool
}) (answer, error) {
	name := "refs/" + c.r.PathValue("ref")
	err := r.UpdateRefs(c.who.actor, []standin.RefUpdate{{Name: name, AfterOID: ask.SHA, Force: ask.Force}})
	return answer{status: http.StatusOK, body: c.refJSON(r, name, ask.SHA)}, err
}
