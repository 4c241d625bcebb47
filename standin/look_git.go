package standin

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/graph-gophers/graphql-go"
)

// branchRef is GraphQL's Ref.
type branchRef struct {
	repo *repository
	name string // full
	sha  string
}

func (b *branchRef) ID() graphql.ID { return graphql.ID(nodeID("Ref", b.name)) }

func (b *branchRef) Prefix() string {
	for _, p := range []string{"refs/heads/", "refs/tags/", "refs/pull/"} {
		if strings.HasPrefix(b.name, p) {
			return p
		}
	}
	return "refs/"
}

func (b *branchRef) Name() string { return strings.TrimPrefix(b.name, b.Prefix()) }

func (b *branchRef) Repository() *repository { return b.repo }

func (b *branchRef) Target() (*gitNode, error) { return b.repo.object(b.sha) }

// refUpdateRule is the branch protection of old as it binds the viewer; rulesets are not in it.
type refUpdateRule struct {
	AllowsDeletions, AllowsForcePushes, BlocksCreations      bool
	Pattern                                                  string
	RequiredApprovingReviewCount                             *int32
	RequiredStatusCheckContexts                              *[]*string
	RequiresCodeOwnerReviews, RequiresConversationResolution bool
	RequiresLinearHistory, RequiresSignatures                bool
	ViewerAllowedToDismissReviews, ViewerCanPush             bool
}

func (b *branchRef) RefUpdateRule() *refUpdateRule {
	r := b.repo.r
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rules := range r.rulesOf(b.Name(), b.repo.look.who.actor) {
		if !rules.Classic || b.Prefix() != "refs/heads/" {
			continue
		}
		contexts := []*string{}
		for _, c := range rules.Checks {
			contexts = append(contexts, &c.Context)
		}
		out := &refUpdateRule{
			AllowsDeletions: !rules.NoDelete, AllowsForcePushes: !rules.NoForce, Pattern: b.Name(),
			RequiredStatusCheckContexts: &contexts, ViewerCanPush: !rules.Restrict,
			BlocksCreations: rules.NoCreate,
		}
		if rules.Reviews > 0 {
			n := int32(rules.Reviews) // a handful
			out.RequiredApprovingReviewCount = &n
		}
		return out
	}
	return nil
}

// gitNode is GraphQL's GitObject: a commit, a tree or a blob.
type gitNode struct {
	repo *repository
	o    gitObject
}

func (n *gitNode) ID() graphql.ID { return graphql.ID(nodeID(n.o.kind, n.o.sha)) }

func (n *gitNode) OID() scalar { return scalar(n.o.sha) }

func (n *gitNode) AbbreviatedOID() string { return n.o.sha[:7] }

func (n *gitNode) CommitURL() scalar {
	return n.repo.URL() + scalar("/commit/"+n.o.sha)
}

func (n *gitNode) Repository() *repository { return n.repo }

// ToCommit, ToTree and ToBlob tell which type a GitObject is.
func (n *gitNode) ToCommit() (*commitNode, bool) {
	if n.o.kind != "commit" {
		return nil, false
	}
	c, err := n.repo.r.git.commit(n.o.sha)
	return &commitNode{n, c}, err == nil
}

func (n *gitNode) ToTree() (*treeNode, bool) { return &treeNode{n}, n.o.kind == "tree" }

func (n *gitNode) ToBlob() (*blobNode, bool) { return &blobNode{gitNode: n}, n.o.kind == "blob" }

// commitNode is GraphQL's Commit.
type commitNode struct {
	*gitNode
	c *commit
}

func (r *repository) commitNode(sha string) (*commitNode, error) {
	if sha == "" {
		return nil, nil
	}
	c, err := r.r.git.commit(sha)
	if err != nil {
		return nil, err
	}
	return r.nodeOf(c), nil
}

func (r *repository) nodeOf(c *commit) *commitNode {
	return &commitNode{&gitNode{repo: r, o: gitObject{sha: c.sha, kind: "commit"}}, c}
}

func (n *commitNode) AuthoredDate() scalar { return dateTime(n.c.author.at) }

func (n *commitNode) CommittedDate() scalar { return dateTime(n.c.committer.at) }

func (n *commitNode) Message() string { return strings.TrimSpace(n.c.message) }

// How GitHub cuts a long headline, in characters: of each that people have shown in public, 69 are left and an ellipsis. The
// rest begins the body, after another ellipsis.
const (
	maxHeadline = 72
	cutHeadline = 69
)

// MessageHeadline is the first line of the message, cut if it is long.
func (n *commitNode) MessageHeadline() string {
	line, _, _ := strings.Cut(n.Message(), "\n")
	line = strings.TrimSuffix(line, "\r")
	if runes := []rune(line); len(runes) > maxHeadline {
		return string(runes[:cutHeadline]) + "…"
	}
	return line
}

func (n *commitNode) URL() scalar { return n.CommitURL() }

func (n *commitNode) Parents(args window) (*connection[*commitNode], error) {
	list := []*commitNode{}
	for _, sha := range n.c.parents {
		p, err := n.repo.commitNode(sha)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return cut("parents", args, list)
}

func (n *commitNode) Tree() *treeNode {
	return &treeNode{&gitNode{repo: n.repo, o: gitObject{sha: n.c.tree, kind: "tree"}}}
}

// File is one entry below the commit's tree. GitHub answers a path that is not there with null and an error beside the data.
func (n *commitNode) File(args struct{ Path string }) (*treeEntryNode, error) {
	if err := n.repo.look.may("contents"); err != nil {
		return nil, err
	}
	missing := unresolved("file for path '%s'.", args.Path)
	if !validPath(args.Path) {
		return nil, missing
	}
	e, err := n.repo.r.git.entryAt(n.o.sha, args.Path)
	if errors.Is(err, ErrNotFound) {
		return nil, missing
	}
	if err != nil {
		return nil, err
	}
	return &treeEntryNode{n.repo, e}, nil
}

// Status is null if the commit has none; check runs are not in it.
func (n *commitNode) Status() *commitStatus {
	r := n.repo.r
	r.mu.Lock()
	defer r.mu.Unlock()
	latest := r.latest(n.o.sha)
	if len(latest) == 0 {
		return nil
	}
	return &commitStatus{n, latest}
}

func (n *commitNode) StatusCheckRollup() *rollup { return rollupOf(n) }

// treeNode is GraphQL's Tree.
type treeNode struct{ *gitNode }

func (n *treeNode) Entries() (*[]*treeEntryNode, error) {
	entries, err := n.repo.r.git.level(n.o.sha)
	if err != nil {
		return nil, err
	}
	list := []*treeEntryNode{}
	for _, e := range entries {
		list = append(list, &treeEntryNode{n.repo, e})
	}
	return &list, nil
}

type treeEntryNode struct {
	repo *repository
	e    treeEntry
}

func (n *treeEntryNode) Name() string { return n.e.path[strings.LastIndex(n.e.path, "/")+1:] }

func (n *treeEntryNode) Path() *string { return &n.e.path }

func (n *treeEntryNode) OID() scalar { return scalar(n.e.sha) }

func (n *treeEntryNode) Type() string { return n.e.kind }

// Mode is the octal mode read as a number, as GitHub has it: 33188 for 100644.
func (n *treeEntryNode) Mode() int32 {
	mode, err := strconv.ParseInt(n.e.mode, 8, 32)
	if err != nil {
		return 0
	}
	return int32(mode)
}

func (n *treeEntryNode) Object() (*gitNode, error) { return n.repo.object(n.e.sha) }

// blobNode is GraphQL's Blob.
type blobNode struct {
	*gitNode
}

// maxText is how much of a blob's text GitHub gives.
const maxText = 512 << 10

func (n *blobNode) ByteSize() int32 { return int32(n.o.size) } // files of a demo

func (n *blobNode) data() ([]byte, error) {
	o, err := n.repo.r.git.cat.contents(n.o.sha)
	return o.data, err
}

// binaryHead is how far git looks for a zero byte to tell a binary file.
const binaryHead = 8000

func (n *blobNode) IsBinary() (*bool, error) {
	data, err := n.data()
	binary := bytes.IndexByte(data[:min(len(data), binaryHead)], 0) >= 0 || !utf8.Valid(data)
	return &binary, err
}

func (n *blobNode) IsTruncated() bool { return n.o.size > maxText }

func (n *blobNode) Text() (*string, error) {
	binary, err := n.IsBinary()
	if err != nil || *binary {
		return nil, err
	}
	data, err := n.data()
	text := string(data[:min(len(data), maxText)])
	return &text, err
}

// commitStatus is GraphQL's Status.
type commitStatus struct {
	n    *commitNode
	list []Status
}

func (s *commitStatus) ID() graphql.ID { return graphql.ID(nodeID("Status", s.n.o.sha)) }

func (s *commitStatus) Commit() *commitNode { return s.n }

func (s *commitStatus) State() string {
	state := ""
	for _, one := range s.list {
		state = worse(state, ofStatus(one.State))
	}
	return rollupWord(state)
}

func (s *commitStatus) Contexts() []*statusContext {
	list := []*statusContext{}
	for _, one := range s.list {
		list = append(list, &statusContext{s.n, one})
	}
	return list
}

func (s *commitStatus) Context(args struct{ Name string }) *statusContext {
	at := slices.IndexFunc(s.list, func(o Status) bool { return strings.EqualFold(o.Context, args.Name) })
	if at < 0 {
		return nil
	}
	return &statusContext{s.n, s.list[at]}
}
