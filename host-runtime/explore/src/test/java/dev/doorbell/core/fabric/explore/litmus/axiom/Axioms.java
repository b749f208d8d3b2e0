package dev.doorbell.core.fabric.explore.litmus.axiom;

import dev.doorbell.core.fabric.explore.litmus.Instruction.Address;
import dev.doorbell.core.fabric.explore.litmus.Instruction.Proxy;
import dev.doorbell.core.fabric.explore.litmus.Instruction.ProxyFence;
import dev.doorbell.core.fabric.explore.litmus.LitmusResult.Axiom;
import dev.doorbell.core.fabric.explore.litmus.LitmusTest;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Judges a candidate execution whose reads and barriers are fixed: tries every order of its {@code
 * fence.sc} and every coherence order, and keeps those that no axiom forbids.
 *
 * <p>Section numbers are those of the PTX ISA 9.0, chapter 8.
 */
final class Axioms {
  /** The write that a fence or barrier "reads from", and everything else that does not read. */
  static final int NOBODY = -1;

  private final Candidate candidate;
  private final List<Event> events;
  private final int[] source;
  private final int locations;
  private final Consumer<Survivor> survivors;
  private final Relation observation;
  private final Relation base;
  private final Set<Axiom> violated = EnumSet.noneOf(Axiom.class);

  /**
   * An order of fences under which some executions are allowed.
   *
   * @param coherence by location, the coherence orders
   * @param causality between accesses of the same location
   */
  record Survivor(List<List<Coherence.Order>> coherence, Relation causality) {}

  /**
   * @param source by event, the write that it reads from
   * @param barriers what synchronizes at barriers
   * @param survivors gets what is allowed
   */
  Axioms(
      Candidate candidate,
      int[] source,
      Relation barriers,
      int locations,
      Consumer<Survivor> survivors) {
    this.candidate = candidate;
    this.events = candidate.events;
    this.source = source;
    this.locations = locations;
    this.survivors = survivors;
    this.observation = observation();
    this.base = candidate.program.copy();
    base.addAll(barriers);
    base.addAll(synchronization());
    base.close();
  }

  /**
   * Judges.
   *
   * @return the axioms that forbade something
   */
  Set<Axiom> judge() {
    if (isThinAir()) {
      violated.add(Axiom.NO_THIN_AIR);
    } else {
      orderFences(base, new Relation(events.size()), fencePairs(), 0);
    }
    return violated;
  }

  /** 8.10.4: no cycle of reads-from and dependencies. */
  private boolean isThinAir() {
    Relation reasons = new Relation(events.size());
    for (int i = 0; i < events.size(); i++) {
      if (source[i] != NOBODY) {
        reasons.add(source[i], i);
      }
      for (int j = 0; j < events.size(); j++) {
        if ((candidate.dependencies[i] >>> j & 1) != 0) {
          reasons.add(j, i);
        }
      }
    }
    return reasons.isCyclic();
  }

  /**
   * 8.9.2: morally strong reads-from, on through read-modify-writes. Of writes and reads it is the
   * observation order; a joined pair is the way through.
   */
  private Relation observation() {
    Relation observed = new Relation(events.size());
    for (int read = 0; read < events.size(); read++) {
      if (source[read] != NOBODY && candidate.strong.has(source[read], read)) {
        observed.add(source[read], read);
      }
      if (events.get(read).joined()) {
        observed.add(read - 1, read);
      }
    }
    return observed.close();
  }

  /** 8.9.4: release patterns that an acquire pattern observes. */
  private Relation synchronization() {
    Relation synchronizes = new Relation(events.size());
    for (Candidate.Pattern release : candidate.releases) {
      for (Candidate.Pattern acquire : candidate.acquires) {
        if (observation.has(release.access(), acquire.access())
            && candidate.strong.has(release.end(), acquire.end())) {
          synchronizes.add(release.end(), acquire.end());
        }
      }
    }
    return synchronizes;
  }

  /** Pairs of {@code fence.sc} of different threads that are morally strong. */
  private List<int[]> fencePairs() {
    List<int[]> pairs = new ArrayList<>();
    for (int a = 0; a < events.size(); a++) {
      for (int b = a + 1; b < events.size(); b++) {
        if (events.get(a).isScFence()
            && events.get(b).isScFence()
            && events.get(a).thread() != events.get(b).thread()
            && candidate.strong.has(a, b)) {
          pairs.add(new int[] {a, b});
        }
      }
    }
    return pairs;
  }

  /** 8.9.3 and 8.10.2: tries both directions of each pair that causality leaves open. */
  private void orderFences(Relation causes, Relation fences, List<int[]> pairs, int next) {
    candidate.budget.step();
    if (next == pairs.size()) {
      if (contradicts(fences, causes)) {
        violated.add(Axiom.FENCE_SC);
      } else {
        orderWrites(causes);
      }
      return;
    }
    int[] pair = pairs.get(next);
    for (int direction = 0; direction < 2; direction++) {
      int from = pair[direction];
      int to = pair[1 - direction];
      if (causes.has(to, from)) {
        violated.add(Axiom.FENCE_SC);
        continue;
      }
      Relation more = causes.copy();
      more.addTransitively(from, to);
      Relation ordered = fences.copy();
      ordered.add(from, to);
      orderFences(more, ordered, pairs, next + 1);
    }
  }

  private boolean contradicts(Relation fences, Relation causes) {
    for (int a = 0; a < events.size(); a++) {
      for (int b = 0; b < events.size(); b++) {
        if (fences.has(a, b) && causes.has(b, a)) {
          return true;
        }
      }
    }
    return false;
  }

  private void orderWrites(Relation causes) {
    Relation causality = causality(causes);
    if (readsTheFuture(causality)) {
      violated.add(Axiom.CAUSALITY);
      return;
    }
    List<List<Coherence.Order>> orders = new ArrayList<>();
    boolean possible = true;
    for (int location = 0; location < locations; location++) {
      Coherence coherence = new Coherence(candidate, source, location, causality, violated);
      List<Coherence.Order> allowed = coherence.orders();
      possible &= !allowed.isEmpty();
      orders.add(allowed);
    }
    if (possible) {
      survivors.accept(new Survivor(orders, causality));
    }
  }

  /**
   * 8.9.5, between accesses of the same location: base causality that proxies preserve, and
   * observation before it.
   */
  private Relation causality(Relation causes) {
    Relation causality = new Relation(events.size());
    ProxyOrder proxies = new ProxyOrder(candidate, causes);
    for (int x = 0; x < events.size(); x++) {
      for (int y = 0; y < events.size(); y++) {
        if (x != y && sameLocation(x, y) && precedes(causes, proxies, x, y)) {
          causality.add(x, y);
        }
      }
    }
    return causality;
  }

  private boolean precedes(Relation causes, ProxyOrder proxies, int x, int y) {
    if (events.get(x).isInitial()) {
      return !events.get(y).isInitial();
    }
    if (causes.has(x, y) && proxies.preserves(x, y)) {
      return true;
    }
    for (int z = 0; z < events.size(); z++) {
      if (events.get(x).writes()
          && events.get(z).reads()
          && observation.has(x, z)
          && sameLocation(z, y)
          && causes.has(z, y)
          && proxies.preserves(z, y)) {
        return true;
      }
    }
    return false;
  }

  private boolean sameLocation(int a, int b) {
    return events.get(a).isMemory() && events.get(a).location() == events.get(b).location();
  }

  /** 8.10.6, first half: a read that precedes a write in causality does not read from it. */
  private boolean readsTheFuture(Relation causality) {
    for (int read = 0; read < events.size(); read++) {
      if (source[read] != NOBODY && causality.has(read, source[read])) {
        return true;
      }
    }
    return false;
  }

  /**
   * Computes which base causality between accesses of one location is preserved by their proxies
   * (PTX ISA, "Proxy-preserved base causality order"; the fences of surfaces, textures and
   * constants are those of its mixed-proxy extension).
   *
   * <p>Causality reaches from access to access when both name the location by one generic address
   * and go by the generic proxy, or by one proxy in one CTA. Otherwise fences have to lie on the
   * way: one of the first access's proxy, in its CTA, when that is not generic; one between aliases
   * when the addresses differ; one of the second access's proxy, in its CTA, when that is not
   * generic.
   */
  private static final class ProxyOrder {
    private final LitmusTest test;
    private final List<Event> events;
    private final Relation causes;

    /**
     * @param causes base causality, transitive
     */
    ProxyOrder(Candidate candidate, Relation causes) {
      this.test = candidate.test;
      this.events = candidate.events;
      this.causes = causes;
    }

    /** Returns true if causality from one access to another of the same location reaches it. */
    boolean preserves(int from, int to) {
      Address first = events.get(from).address();
      Address second = events.get(to).address();
      if (first == null || second == null) {
        return true;
      }
      boolean sameAddress = first.virtual() == second.virtual();
      boolean sameProxy = first.proxy() == second.proxy();
      if (sameAddress && sameProxy && (first.proxy() == Proxy.GENERIC || sameCta(from, to))) {
        return true;
      }
      for (int left : proxyExits(from, first.proxy())) {
        for (int entered : proxyEntries(to, second.proxy())) {
          if (sameAddress ? causes.has(left, entered) : aliasFenceBetween(left, entered)) {
            return true;
          }
        }
      }
      return false;
    }

    /** The access itself, or fences of its proxy that follow it. */
    private List<Integer> proxyExits(int access, Proxy proxy) {
      if (proxy == Proxy.GENERIC) {
        return List.of(access);
      }
      List<Integer> exits = new ArrayList<>();
      for (int fence = 0; fence < events.size(); fence++) {
        if (isFence(fence, proxy) && sameCta(access, fence) && causes.has(access, fence)) {
          exits.add(fence);
        }
      }
      return exits;
    }

    /** The access itself, or fences of its proxy that precede it. */
    private List<Integer> proxyEntries(int access, Proxy proxy) {
      if (proxy == Proxy.GENERIC) {
        return List.of(access);
      }
      List<Integer> entries = new ArrayList<>();
      for (int fence = 0; fence < events.size(); fence++) {
        if (isFence(fence, proxy) && sameCta(access, fence) && causes.has(fence, access)) {
          entries.add(fence);
        }
      }
      return entries;
    }

    private boolean aliasFenceBetween(int from, int to) {
      for (int fence = 0; fence < events.size(); fence++) {
        if (isFence(fence, Proxy.GENERIC) && causes.has(from, fence) && causes.has(fence, to)) {
          return true;
        }
      }
      return false;
    }

    private boolean isFence(int event, Proxy proxy) {
      ProxyFence fence = events.get(event).proxyFence();
      return fence != null && fence.proxy() == proxy;
    }

    private boolean sameCta(int a, int b) {
      return test.threads()
          .get(events.get(a).thread())
          .place()
          .sameCta(test.threads().get(events.get(b).thread()).place());
    }
  }
}
