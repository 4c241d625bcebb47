package api_test

import (
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"os"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

// People open and merge a pull request. What the App does instead of bob goes over Handler.
func Example() {
	dir, err := os.MkdirTemp("", "standin")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	github, err := api.New(api.Options{Dir: dir, AppID: 1, AppKey: &key.PublicKey})
	if err != nil {
		panic(err)
	}
	defer github.Close()

	repo, err := github.CreateRepo("acme", "fleet", map[string]string{"README.md": "# fleet\n"})
	if err != nil {
		panic(err)
	}
	number, err := repo.OpenPull(standin.NewPull{
		By: "alice", Head: "nginx", Change: &standin.Change{Write: map[string]string{"apps/nginx.yaml": "kind: HelmRelease\n"}},
	})
	if err != nil {
		panic(err)
	}
	sha, err := repo.MergePull(number, "bob", standin.Squash)
	if err != nil {
		panic(err)
	}
	fmt.Println(number, sha == repo.Tip("main"))
	// Output: 1 true
}
