package dev.doorbell.core.fabric.timed.thread;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.timed.interconnect.AccessPath;
import dev.doorbell.core.fabric.timed.interconnect.Cells;
import dev.doorbell.core.fabric.timed.interconnect.Component;
import dev.doorbell.core.fabric.timed.link.Route;
import dev.doorbell.core.fabric.timed.processor.LoadCache;
import dev.doorbell.core.fabric.timed.processor.LoadsInFlight;
import dev.doorbell.core.fabric.timed.processor.Processor;
import dev.doorbell.core.fabric.timed.processor.RemoteAccess;
import dev.doorbell.core.fabric.timed.processor.Warp;
import dev.doorbell.core.fabric.timed.processor.Warp.Gate;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.trace.TraceEvent;
import org.jspecify.annotations.Nullable;

/**
 * A thread's loads: those that it waits for, and those of a GPU's thread that are under way while
 * it goes on. A load of the thread's own memory has its value from the moment at which it is issued
 * and is there after its price; one of memory elsewhere has that of its request's arrival.
 */
abstract class LoadingThread extends ScheduledThread implements RemoteAccess.Listener {
  private static final long[] NONE = {};

  final LoadCache cache;
  final Warp warp;
  final int lane;
  private final @Nullable LoadsInFlight ahead;

  /** The remote access that the thread makes and waits for, or has just made; else null. */
  private @Nullable RemoteAccess remote;

  /** The one whose answer wakes it. */
  private @Nullable RemoteAccess awaited;

  /** True if {@link #cache} has had a sector of memory elsewhere. */
  private boolean cachedElsewhere;

  /** Stores to memory elsewhere so far. */
  private long stored;

  /** When the load that memory here has just served is there. */
  private long there;

  LoadingThread(
      ThreadScheduler scheduler, Processor processor, Agent agent, long number, Warp warp) {
    super(scheduler, processor, agent, number);
    this.warp = warp;
    this.cache = warp.cache(prices.loadSector());
    this.lane = warp.join();
    this.ahead = prices.loadsInFlight() > 1 ? new LoadsInFlight(prices.loadsInFlight()) : null;
  }

  /** Lets what waits to be sent on {@code route} leave. */
  abstract void flush(Route route);

  @Override
  public final long load128(long address, int access) {
    return load(address, 16, access);
  }

  @Override
  protected final long load(long address, int bytes, int access) {
    boolean strong = strong(access);
    if ((access & Access.SEMANTICS) == Access.ACQUIRE && wide(access)) {
      cache.forget();
    }
    if (remote != null) {
      return finish(address, bytes, strong);
    }
    AccessPath path = processor.component.path("load", address, bytes);
    if (path.scratch) {
      parked = false;
      return read(address, bytes);
    }
    if (isUnnoticed(path, strong) ? heldUnnoticed() : held()) {
      return 0;
    }
    if (strong && looksLater(path, address)) {
      return 0;
    }
    if (!path.local) {
      if (isHit(path, address, strong)) {
        time += prices.loadHit();
        return read(address, bytes);
      }
      return begin(load(path, address, bytes));
    }
    long value = serve(address, bytes, strong);
    time = there;
    return value;
  }

  @Override
  public final long @Nullable [] loadMembers(long address, int bytes, int access) {
    RemoteAccess open = remote;
    if (open != null) {
      finish(address, bytes, false);
      return open.members();
    }
    AccessPath path = processor.component.path(Component.MULTIMEM, address, bytes);
    if (!held()) {
      begin(load(path, address, bytes));
    }
    return NONE;
  }

  /** Returns true if the phase of the thread's rounds makes it look when others have had a turn. */
  private boolean looksLater(AccessPath path, long address) {
    // A program may look twice at a cell here without polling it; those that poll soon sleep.
    long delay = path.local ? 0 : polls.beforeLook(address, path.out().latency, path.roundTrip());
    time += delay;
    return delay > 0 && held();
  }

  /** Returns true if a scope reaches beyond the multiprocessor. */
  static boolean wide(int access) {
    int scope = access & Access.SCOPES;
    return scope != Access.CTA && scope != Access.CLUSTER;
  }

  /**
   * Returns true if the time of a load cannot be noticed: it is weak, and passes no gate. What it
   * finds was written before the thread's last acquire or barrier, which had its turn, and is not
   * overwritten before its next release; a program of which that is not true has no order there.
   */
  private boolean isUnnoticed(AccessPath path, boolean strong) {
    return path.local && !strong && warp.loads == null;
  }

  private RemoteAccess load(AccessPath path, long address, int bytes) {
    RemoteAccess request =
        new RemoteAccess(interconnect, processor, this, path, address, bytes, null, 0, 0);
    request.behind(stored);
    return request;
  }

  /**
   * The thread stores to memory elsewhere, which may take a while to get there: until it has loaded
   * the sector again behind that, none of its loads is a hit.
   */
  final void storesElsewhere(long address) {
    stored++;
    if (cachedElsewhere) {
      cache.drop(address);
    }
  }

  /** Returns true if a load of memory elsewhere finds its sector in the first cache. */
  private boolean isHit(AccessPath path, long address, boolean strong) {
    return !strong && isCached(path) && cachedElsewhere && cache.holds(address, time);
  }

  /** Returns true if the first cache holds what a weak load brings: of host memory, as measured. */
  private boolean isCached(AccessPath path) {
    return processor.component.isGpu() && path.owner.locus.part() == Locus.Part.CPU;
  }

  private static boolean strong(int access) {
    int semantics = access & Access.SEMANTICS;
    return semantics != Access.WEAK && semantics != Access.NON_COHERENT;
  }

  /** Loads from memory here; the value is {@link #there} later. */
  private long serve(long address, int bytes, boolean strong) {
    long value = read(address, bytes);
    long turn = turn(warp.loads, bytes);
    if (strong) {
      polled(address, bytes, value, turn, 0);
      there = turn + prices.strongLoad();
    } else {
      there = cache.arrival(address, turn + prices.loadHit(), turn + prices.load());
    }
    return value;
  }

  /** A strong load of up to 16 bytes returned; the upper half of 16 is in {@link #high}. */
  private void polled(long address, int bytes, long low, long when, long reach) {
    polls.loaded(address, Math.min(bytes, Long.BYTES), low, when, reach);
    if (bytes > Long.BYTES) {
      polls.loaded(address + Long.BYTES, Long.BYTES, high, when, reach);
    }
  }

  final long read(long address, int bytes) {
    if (bytes == 16) {
      high = Cells.load(address + Long.BYTES, Long.BYTES);
      return Cells.load(address, Long.BYTES);
    }
    return Cells.load(address, bytes);
  }

  /** When the thread gets through, having made its access. */
  final long turn(Gate.@Nullable Entry gate, int bytes) {
    return gate == null ? time : gate.pass(lane, time, bytes);
  }

  /** True while a remote access has been begun and not finished. */
  final boolean underWay() {
    return remote != null;
  }

  /** Sends a remote access, and waits for it; {@link #finish} has its value. */
  final long begin(RemoteAccess access) {
    send(access, time);
    remote = access;
    await(access);
    return 0;
  }

  private void send(RemoteAccess access, long when) {
    flush(access.path.out());
    interconnect.requirePeerReads(access.path, processor.component);
    if (ahead != null) {
      access.notBefore(ahead.servedBy(access.address, access.bytes));
    }
    if (access.loads()) {
      access.headStart(polls.takeHeadStart());
      processor.loads.send(access, when);
    } else {
      access.send(when);
    }
  }

  private void await(RemoteAccess access) {
    awaited = access;
    awaitAnswer(access.address);
  }

  @Override
  public final void answered(RemoteAccess access, long when) {
    if (ahead != null && !access.equals(remote)) {
      ahead.answered(when);
    }
    if (access.equals(awaited)) {
      awaited = null;
      answered(when);
    }
  }

  final long finish(long address, int bytes, boolean strong) {
    RemoteAccess access = remote;
    if (access == null || held()) {
      return 0;
    }
    if (access.address != address || access.bytes != bytes) {
      throw new IllegalStateException(
          "%s issued another access (%d bytes at 0x%x) than the one it parked on (%d at 0x%x)"
              .formatted(agent().where(), bytes, address, access.bytes, access.address));
    }
    remote = null;
    return returned(access, strong);
  }

  private long returned(RemoteAccess access, boolean strong) {
    high = access.high();
    if (strong) {
      polled(access.address, access.bytes, access.low(), time, access.path.out().latency);
    } else if (isCached(access.path) && access.behind() == stored) {
      cachedElsewhere = true;
      cache.arrival(access.address, time, time);
    }
    if (interconnect.tracing()) {
      trace(TraceEvent.Kind.LOAD, access.address, access.low(), access.bytes, "load returned");
    }
    return access.low();
  }

  @Override
  public final int loadsAhead() {
    return ahead == null ? 0 : ahead.tickets();
  }

  @Override
  public final void issue(int ticket, long address, int bytes, int access) {
    LoadsInFlight loads = ahead;
    if (loads == null) {
      super.issue(ticket, address, bytes, access);
      return;
    }
    AccessPath path = processor.component.path("load", address, bytes);
    if (path.scratch) {
      parked = false;
      long low = read(address, bytes);
      loads.served(ticket, low, high, time);
      return;
    }
    boolean strong = strong(access);
    if (isUnnoticed(path, strong) ? heldUnnoticed() : held()) {
      return;
    }
    if (strong && looksLater(path, address)) {
      return;
    }
    // A load begins when its own instruction has been executed, which has not been counted yet.
    if (path.local) {
      long low = serve(address, bytes, strong);
      loads.served(ticket, low, high, there + prices.instruction());
    } else if (isHit(path, address, strong)) {
      long low = read(address, bytes);
      loads.served(ticket, low, high, time + prices.loadHit() + prices.instruction());
    } else {
      RemoteAccess request = load(path, address, bytes);
      send(request, time + prices.instruction());
      loads.sent(ticket, request, strong);
    }
    time += prices.loadIssue();
  }

  @Override
  public final long take(int ticket) {
    LoadsInFlight loads = ahead;
    if (loads == null) {
      return super.take(ticket);
    }
    RemoteAccess request = loads.remote(ticket);
    if (request == null) {
      parked = false;
      time = Math.max(time, loads.ready(ticket));
      high = loads.high(ticket);
      return loads.low(ticket);
    }
    if (!request.answered()) {
      await(request);
      return 0;
    }
    time = Math.max(time, request.answeredAt());
    return held() ? 0 : returned(request, loads.strong(ticket));
  }

  /** True when the thread has to wait until all that it has issued is there. */
  final boolean awaitsLoads() {
    if (ahead == null) {
      return false;
    }
    RemoteAccess open = ahead.unanswered();
    if (open != null) {
      await(open);
      return true;
    }
    time = Math.max(time, ahead.complete());
    return false;
  }

  /**
   * True when the thread has to wait for a load of any of these bytes of memory elsewhere, which
   * must not see what the thread stores there now.
   */
  final boolean awaitsLoad(long address, int bytes) {
    RemoteAccess open = ahead == null ? null : ahead.unanswered(address, bytes);
    if (open == null) {
      return false;
    }
    await(open);
    return true;
  }

  final void trace(TraceEvent.Kind kind, long subject, long value, long bytes, String text) {
    interconnect.trace(time, processor.component.locus, kind, subject, value, bytes, text);
  }
}
