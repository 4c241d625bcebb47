// Package reconcile is the loop: observe, decide, hand over, write.
//
// # Model
//
// Per repository: plan := decide(observe(repo)). A look reads and decides, and writes nothing: what its plan wants stands in the table
// ([outbox.Table]), in the place of what was wanted there before. One writer takes from the table whose turn it is, and does each write in a goroutine
// of its own. A repository is looked at again when GitHub says that something changed, when plan.Wake or plan.Look comes, when what was wanted is done,
// or at the resync. A look begins from what GitHub says at that moment: webhooks are hints. What was decided before is written only while it
// is young enough ([plan.Pin]) and no event has named what it rests on; else it is read and decided again.
//
// While a repository is read nothing begins there that opens, and no read begins while something does. So what one look decides never crosses
// what another one wanted, and no snapshot has to be told of writes that it does not show.
//
// One thing needs no look: each success of ours is a debt ([plan.Debt]), recorded in the store before it is written, and paid at its
// instant by one status from the ledger, which has the debts of all repositories. To take a success back is to call its debt in. Writes and
// payments meet in two places: writes to one commit and context take turns, and what opens waits for what is overdue.
//
// The package decides nothing. It compares each action's [plan.Pin] with the clock and with the notes that came in, and does
// the action or leaves it.
//
// # From a webhook to a merge
//
//  1. webhook: receive checks the signature and parses (open), keeps the delivery (store: Note makes the repository's row due) and pokes.
//  2. service: the poke becomes an event.Hint (HintOf) for [Loop.Poke], which finds the entry (known). The entry's bound.Book writes down
//     how the event says that things stood, queue.note what it named, and sets the alarm (reckon), and wakes the loop. Only then webhook answers 202.
//  3. [Loop.Run] sleeps until the next alarm; start moves entries whose alarm rang to their installation's line (advance), and
//     for each that may go (next: a worker, the hour, no limit, no merge under way) makes a look (newLook) in a goroutine of its own.
//  4. look.run: observe adds to what GitHub shows (forge: Observe) what the store remembers (Recall) and what is owed. What it is
//     too old for (compare) stays unanswered. decide ([Options].Decide, gate.Decide and promoter.Decide) makes of it a plan.
//  5. keepDebts records what the plan says of debts, and calls in those of what it takes back (calledIn). remember keeps the plan; its row stays due.
//  6. handOver puts what is wanted into the table. The look ends (conclude): schedule sets the next alarms, and the worker is free.
//  7. write: outbox.Table.Next names what begins, within the installation's allowance, and what is to be read again before (readAgain: a look
//     at those pull requests alone, readPart). unit.run does each once permit says that it is still right.
//  8. merge: giveGreen, post and postSuccess record the debt (owe; store: Owe) and write the success (put; forge: SetStatus). permit once more, then
//     the merge (patiently, as a limit that ends soon is waited for; forge: Merge).
//  9. mergeDone records the merge (store: Record) and deletes the branch; or unmerged pays the success's debt (takeBack) and records why.
//     conclude and follow say how errors go on. The last write of a plan moves its due row on (settle), and asks for the next look (opened).
//  10. A look that follows asks what became of the merge (forge: Ask.Merged), and ends the debt (plan: Redeemed, keepDebts).
//
// The call that merges goes through ten functions: receive, Poke, start, run of a look, handOver; write, run of a unit, merge, patiently, Merge.
//
// # Invariants
//
//   - Never two looks at one repository at once; a burst of notes makes one look, or two. The first after a silence waits for no other look.
//   - A decision replaces what was wanted before: what nobody wants any more is never written. A look at some pull requests replaces what is
//     about them, and is decided with all else as it was read before.
//   - While a repository is read nothing begins there that opens, and no read begins while something does. What only tells goes on: what was
//     written since a look began is not written again.
//   - Nothing opens on a void observation: the pin has run out, or an event that is not the echo of our own write named, since the
//     observation began, what the write rests on: its pull request or whatever shares the head, the head, the base, the branch that it
//     deletes, the default branch, or nothing in particular. One that says no more than that a pull request is open, with the head and the
//     base that were observed, is no news: GitHub's webhooks are late, and the look that it would make would see the same. A push or a
//     check voids all that is about windowed branches, an event about a pull request none of it. What holds, or takes back, is never void: the
//     next decision replaces it, so that a push a second keeps nothing green.
//   - An event is answered by a read that shows what it said, or something later, and by no other: for what it named an older read is as
//     void as if the event came after it, the echoes of our own writes included. All else goes on. It is read again after half a second,
//     doubling, until GitHub shows it, or REST denies it after a minute (package bound). A pull request is unknown until then, unless it is green.
//   - No look waits for a write, but for a merge, an update or a move that is under way there. So what opens or closes by time waits for no status.
//   - After a look, what it wants to open has as long as the look took, [agedAfter] at most, before another look for the sake of events: so slow reads
//     and events without end leave half of the time to merges.
//   - The repositories of an installation take turns, a write each: in a round each has one, of what opens that whose window closes first goes first, and who comes
//     joins the next round. What opens goes before what only tells, of which
//     one in ten goes meanwhile, and has a part of GitHub's pace that is not left to that. Of the hour what only tells has what looks have: it goes evenly,
//     in equal shares, and but for the reserve. In one repository writes go in the plan's order, those about one commit or pull
//     request one after the other, and one merge, update or request of moves at a time.
//   - Of one installation at most [outbox.WritesPaced] writes are under way at once, [outbox.WritesFree] without a pace.
//     What pays a debt waits for none of them. After a limit one goes first, to show whether GitHub takes writes again. A write that a limit
//     refused keeps its turn.
//   - What holds waits for nothing that opens: a store that fails, a merge that came too late or a refusal leaves merges, updates and
//     successes, and the statuses that hold are written all the same.
//   - After each start the first look at a repository asks what pull requests left behind since all of ours was last known to be recorded
//     (the store keeps that instant, by GitHub's clock), until GitHub showed all of it and the store has it. So a
//     restored copy is as good as an empty database. Where nothing changed since it costs nothing.
//   - No success is written before its debt is in the store, or an older one there that ends sooner: while it is not known which of two
//     successes stands, the sooner end counts. None is written that would be among the last that GitHub takes of its commit, and none
//     that stands until its window closes without room for its payment beside those of all that stand ([plan.Room]). While the store fails there is none.
//   - A debt that is due is paid whatever looks do, hang on or fail with, by the clock that says so first, the earliest deadline first; GitHub's minute
//     keeps room for those whose deadline comes within it, and what a decision called in before its time has a third of the minute before what has more time, repositories
//     in turn. It ends with a status that
//     GitHub took in its place, with the merge or move that it was for, or after [payMostAge] of refusals; and only the debt with that
//     number does.
//   - Payments of an installation come before whatever opens, until GitHub took something else and did not take them: then they keep
//     nothing waiting. No installation waits for another's.
//   - Nothing green is left behind: once the success of a merge is set, the merge is done or the status is put back, also when
//     the service is told to stop in between.
//   - The same of windowed branches: the success that lets one move ends with the move or with pending. Where a branch was seen is
//     durable before anything is decided on it, else nothing is moved: a branch that is deleted is put back there.
//   - Moves go in one request, all or none. If GitHub refuses it the same branches go once more, each for itself, [branches.MovesApart] in a
//     request, [apartMost] such requests at most: so one that is refused keeps no other. Where all of a request are refused the others are
//     left, and go first in the next look, together: what was refused before goes after what was not. Looks that moved nothing of
//     that kind come further apart, so that a rule against a whole fleet costs a few requests a minute. Nobody reads GitHub's
//     reasons for it.
//   - Neither a slow observation nor events without end keep branches from moving: what moves need is read again just before them,
//     in one request, up to [rereadMost] times a look, and decided again. Nothing else rests on that read.
//   - What a request did in part is recorded, and never asked for again: only the rest is.
//   - Deliveries that may be lost ([Loop.Missed]) cost one look at each repository, a minute after the last such at the earliest, and never
//     more than resyncs may: strangers can cause them without end.
//   - What Flux reports voids nothing, since no write depends on it. One report is looked at within seconds, and a thousand make few looks.
//   - Wake is kept to the instant, whatever the wall clock did meanwhile; a jump of the clock is noticed within [napMost].
//   - One installation never delays another: what others do not use is lent to it, but the last worker is kept for one that has none, who
//     has fewest goes first, no write has a worker, and its limits are its own.
//   - Nothing is released on details older than half a minute: what rests on older ones is read in full as its turn comes, as many of a repository as fall
//     to it within [outbox]'s aheadOfTurn, and no share of the hour is asked for it. Its turn is kept meanwhile, but for its readPatience.
//     A look asks for the details of what falls due by then; and of what waits for checks or reviews, or is released, after an event
//     and at each resync.
//   - What happens by itself stays cheap: resyncs take at most a fifth of the hourly budget.
//   - As GitHub's hour runs low, looks for the sake of events come further apart, so that the hour lasts. What is left goes in equal shares to
//     the repositories that wait (share.go): none waits longer than the rest of the hour × (its look's price × those that wait ÷ points, or requests, left),
//     however dear another one's looks are. What an opening needs, and what waits shortly before a close, has a share of the reserve beyond that, and
//     then waits as the others do; resyncs go last, for an hour at most. A repository that was never looked at, or whose looks fail, has its share alone;
//     the store knows when a plan changes by time, so that a start keeps points for openings. An event in a repository where
//     something is green until its window closes waits a minute at most, as long as its equal share of what is kept for openings lasts.
//     An hour of requests that is spent keeps no look waiting that needs none.
//   - Of merges and updates only as many begin as GitHub takes. While it takes none, what is no content goes ahead of them.
//   - The durable due row is moved forward only after all that a plan wants is done or left, and recorded.
//
// # Races that are known, and why each is harmless
//
//   - GitHub changes between our observation and our write, and its webhook is still under way. Merges name the head's SHA, so GitHub
//     merges no other: it says that the head was modified, which is tried again like all that may pass, and by then the push's event
//     mostly voids it (permit). A label or a review that was set within that second is not seen: the same is true of a person who
//     presses the button. What was observed is at most as old as the pin allows. Once the webhook is here, no older read counts.
//   - GitHub's reads lag its webhooks, and a review or a body is changed within the second of a change that a read shows: GitHub's times
//     are of whole seconds, and the bound compares head, base, state, draft and labels alone. The look after that sees it.
//   - Two events of one pull request and second come in the other order: the read that shows both is taken for older, and the pull request
//     waits for a minute, until REST has said which is true. So it is with a push of long ago that is sent again and names the present tip.
//   - Our own status is set, and a read does not show it yet: it is set once more. What it means is known: a success is a debt, which no
//     read ends.
//   - A check turns red, or a review is dismissed, and its webhook is lost: what stands green for people stays so until the next resync.
//     Nothing is merged on it.
//   - A pull request is opened that is to be merged into the branch which another one's merge deletes, and its webhook is still under
//     way: GitHub closes it, as it does when a person deletes that branch.
//   - An event names a pull request that waits in turn behind the one that is merged, or before it: the order is that of a second earlier.
//   - The queue merges lower entries between our read and our answer on a higher one: that is the strictest of all those below it, each by
//     itself, so it is right on every tip that the base comes to on the way.
//   - The base is changed between our observation and our merge, and its webhook is still under way: a merge names no base. The
//     other base requires a status under its own name, which is not green for what its file holds.
//   - kill -9 between a debt's record and its success: the next start pays what was never given, and a pending status is written.
//   - kill -9 between success and merge: the success stands until the next start, and for [unitMost] at most if that comes sooner: it is taken back from the
//     ledger then, without a look. A look comes before that, as the due row was not moved, and merges.
//   - kill -9 between a merge and the record that its debt ends as its window does: pending is written on the head that was merged, a minute later. It releases nothing.
//   - kill -9 between a payment and its record: it is paid once more, and one status is counted too few. [plan.MaxStatuses] leaves a hundred.
//   - A success is on its way as it falls due: its payment waits for it, never the other way round. One that reaches GitHub after we
//     ceased to wait for its answer is followed by its payment; GitHub ends such requests long before we do.
//   - Two repositories of one installation want the last success for which there is room: it is promised to one, and the other is looked at again.
//   - A payment that fails because GitHub is away and one that fails by itself look alike until another write is taken. Until then
//     nothing opens, for a hundred failures in a row, which is a quarter of an hour.
//   - kill -9 between merge and record: the merge is on GitHub, which is the truth; our history lacks a line, and the count of
//     max_merges_per_opening is one short. Recording first would count merges that never were.
//   - GitHub limits us between success and merge: it takes no pending from us either. Of its hourly budget one in [mergeShare]
//     must be left before a merge begins, and a limit that ends soon is waited for within the unit. A secondary limit can be
//     foreseen by nobody: then the debt is due, and its payment is the first write once the limit ends.
//   - What is read takes longer than half a minute, each time: pull requests are read again as their turn comes, but a success for a merge
//     group or for a base's own tip needs a look at all, and stays unwritten. It releases nothing. Such reads come further apart.
//   - While the store fails heads are as old as our status on them: a green one may go back to pending until it settles anew.
//   - The answer of a merge is lost (cut, time-out): it is tried again, and "already merged" is success. If the pin runs out
//     meanwhile, pending is written on a head that may be merged: it releases nothing.
//   - kill -9 between a status and its record: the history lacks its line, and a repair is counted once too few. The limit on repairs comes one later. A store
//     that fails counts none: then its backoff is the limit.
//   - What holds is written on what an event has made void, and the next look finds it wrong: a status too many, which releases nothing.
//   - A status of ours comes back as an echo after somebody else overwrote it: the other writer's own event is not an echo, and
//     makes the look.
//   - Our merge's echo arrives after the look that followed the merge: one look too many, and it writes nothing.
//   - A webhook takes a repository out of the store's sight while it is looked at: the look's writes name SHAs that GitHub no longer lets
//     us write, and what the store is told of it is about a repository it has forgotten.
//   - The window of a branch closes between our read and our write: each move has an instant from which it is void, which is
//     compared with both clocks just before each request, also before each request for a part of what was refused. It ends cutoff
//     before the close: what is on its way then still arrives in the window.
//   - A windowed branch is moved, deleted or made by somebody else between our read and our write: the request names the old
//     value, and is refused. That refusal is remembered for the old value; the look that follows finds another one, which
//     nothing is remembered of, and moves the branch or says why not.
//   - An event falls into each of a look's reads of branches: they wait for the next look. If events come closer to each other than
//     one request takes, for the whole of a window, nothing moves: what an event changed is not known.
//   - A branch that may be moved stands among hundreds that may not: it waits until one of the tens has it, of which each look asks for
//     one when the one before showed nothing but refusals.
//   - The source is moved back between our read and our write: the branch goes to a commit that was on the line when it was
//     read. The push's own event voids the observation if it came in time; else the next look says that the branch is beyond its
//     source. It is the same as if the branch had moved a second earlier.
//   - kill -9 between the success that lets a branch move and the move: it stands on a commit to which the branch may move now, and
//     so may whoever pushes. Its debt ends within [unitMost]: the next start takes the green back, or a look moves the branch first.
//   - kill -9 between the move and its record: the branch is where it should be, which is the truth; the history lacks a line,
//     and the time from due to applied is not known.
//   - The answer of a move is lost, or says nothing of one branch of several: nothing is assumed. Pending is written where success stood, which moves no branch back; the
//     next look sees what stands, a second later.
//   - A branch is deleted by somebody who means it, and its entry still stands: it is put back. The file says what is to be.
//   - A report of Flux comes while the store fails: Flux sends it again, or says the same at its next reconciliation.
//   - Two notes reach the store and the loop in different order: the loop only counts them, and the look reads GitHub.
//
// # How it fails
//
// An error of observing, of deciding (a panic is one) or of the store holds that repository alone, for a second, doubling to
// five minutes. A limit holds its installation until GitHub's instant. A repository that GitHub twice says is not there, seconds
// apart, is looked at again when an installation's event or the next list of repositories names it, and once in a while if its own
// events go on; a list that lacks it, too, forgets it. What a list lacks is looked at, no more: pages shift while they are read. [Loop.Ready] says what is wrong with the service as a whole, [Loop.Lags] what is not up to date, since when and why.
// What the store remembers can only hold back, so its absence must not release: while it fails, nothing is written but
// statuses that hold, and those are not recorded.
package reconcile
