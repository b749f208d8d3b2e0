package dev.doorbell.core.fabric.explore.litmus.axiom;

import dev.doorbell.core.fabric.explore.litmus.Instruction.Address;
import dev.doorbell.core.fabric.explore.litmus.Instruction.Proxy;
import dev.doorbell.core.fabric.explore.litmus.Instruction.ProxyFence;
import dev.doorbell.core.fabric.explore.litmus.LitmusTest;
import java.util.ArrayList;
import java.util.List;

/**
 * Which base causality between accesses of one location is preserved by their proxies (PTX ISA,
 * "Proxy-preserved base causality order"; the fences of surfaces, textures and constants are those
 * of its mixed-proxy extension).
 *
 * <p>Causality reaches from access to access when both name the location by one generic address and
 * go by the generic proxy, or by one proxy in one CTA. Otherwise fences have to lie on the way: one
 * of the first access's proxy, in its CTA, when that is not generic; one between aliases when the
 * addresses differ; one of the second access's proxy, in its CTA, when that is not generic.
 */
final class ProxyOrder {
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

  /** Whether causality from one access to another of the same location reaches it. */
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
