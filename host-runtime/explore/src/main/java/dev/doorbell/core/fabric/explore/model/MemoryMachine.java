package dev.doorbell.core.fabric.explore.model;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.fabric.explore.model.Actor.ScopeLocation;
import dev.doorbell.core.fabric.explore.model.Cell.Words;
import dev.doorbell.core.fabric.explore.model.Cell.Write;
import dev.doorbell.core.fabric.explore.model.Checks.Semantics;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The memory model as a machine: a load returns any value that it may, a conflict that nothing
 * orders is reported.
 *
 * <p>Vector clocks say what happened before what. A word keeps its latest writes, each with the
 * clocks that releases attached to it; a load may return the newest, or an older one down to the
 * first that its actor knows of. A store that "has not arrived" is one that the reader's clock does
 * not cover, so scopes and transitivity need no store buffers, and a release flushes nothing. This
 * is the operational reading of the PTX memory model (PTX ISA, "Memory Consistency Model": strong
 * and weak, scopes, moral strength, release and acquire patterns, observation through atomics,
 * fence.sc), with these limits: no load returns a value that is stored later (no load buffering),
 * stores to one word have the order in which they were made, and words of 8 bytes are single.
 *
 * <p>Accesses are naturally aligned and at most 8 bytes; {@code access} is of {@link Access}.
 */
public final class MemoryMachine {
  /** The memory behind it: it holds what was there before, and is kept up to date. */
  public interface Backing {
    /** The 8 aligned bytes at {@code address}, little-endian. */
    long word(long address);

    /** Stores the bytes of {@code value} that are ones in {@code mask}. */
    void store(long address, long value, long mask);

    /** True where the memory lies in a GPU. */
    boolean onGpu(long address);

    /** True for memory that blocks have one after the other. */
    default boolean ofBlock(long address) {
      return false;
    }
  }

  @FunctionalInterface
  public interface Findings {
    void found(Conflict conflict);
  }

  /**
   * The way of exploring.
   *
   * @param policy what orders stores for devices
   * @param history writes that a word remembers
   * @param staleLoads after that many stale loads in a row an actor gets the newest value, so that
   *     polling ends; 0 for no limit
   */
  public record Options(Policy policy, int history, int staleLoads) {
    /** For exhaustive searches of small programs. */
    public static Options exhaustive(Policy policy) {
      return new Options(policy, Integer.MAX_VALUE, 0);
    }

    /** For exploring at random. */
    public static Options random(Policy policy) {
      return new Options(policy, 8, 8);
    }
  }

  private final Chooser chooser;
  private final Options options;
  private final Backing backing;
  private final Checks checks;
  private final CellTable cells = new CellTable();
  private int numbers;
  private final Queue<Actor> ended = new ArrayDeque<>();

  private @Nullable Records records;

  /** Is told of accesses; null where there is no listener. */
  private @Nullable AccessLog log;

  /** The orders that were seen; null where they are not kept. */
  private @Nullable SeenOrders orders;

  /** A host that acts while agents go on, and asks what it knows; null where there is none. */
  private @Nullable Actor host;

  private Supplier<Clock> known = Clock::new;

  private int hostActs;

  /** Releases of sc fences, by scope and place. */
  private Release @Nullable [] fences;

  /** The word of the last load, and whether that returned an older value. */
  public @Nullable Cell loaded;

  public boolean stale;

  public MemoryMachine(Chooser chooser, Options options, Backing backing, Findings findings) {
    this.chooser = chooser;
    this.options = options;
    this.backing = backing;
    this.checks = new Checks(options.policy(), findings);
  }

  /** Adds a thread, which knows {@code start} and all that threads did that have ended. */
  public Actor thread(ScopeLocation place, Clock start, Object who) {
    Actor before = ended.peek();
    if (before == null || !start.covers(before.number, before.epoch() - 1)) {
      return add(place, false, start, who);
    }
    ended.remove();
    return new Actor(before.number, place, false, options.policy(), start.copy(), who);
  }

  /**
   * A thread does nothing more; one that comes after it goes on with its epochs: clocks stay short.
   */
  public void ended(Actor thread) {
    ended.add(thread);
  }

  /**
   * Adds an asynchronous copy of a thread, which comes after what that did before, and after which
   * nothing comes that does not wait for it.
   *
   * @param byProxy it reads what its proxy may see alone: what a proxy fence stands behind
   */
  public Actor copy(Actor thread, boolean byProxy) {
    Actor copy = add(thread.place, false, thread.clock, thread.who());
    copy.reads(byProxy ? thread : null);
    thread.nextEpoch();
    return copy;
  }

  public Actor device(int rank, Object who) {
    return add(ScopeLocation.device(rank), true, new Clock(), who);
  }

  private Actor add(ScopeLocation place, boolean device, Clock start, Object who) {
    return new Actor(numbers++, place, device, options.policy(), start.copy(), who);
  }

  /**
   * A host stores from now on while agents go on. Its loads are not seen, so that it may have seen
   * whatever it could: a store of its own hands on all of that, and never races. What it could see
   * is what was released to the system, and alone what strong stores of scope sys stored.
   *
   * @param known what it could have seen by now
   */
  public void hosted(Supplier<Clock> known) {
    this.known = known;
    host = add(ScopeLocation.HOST, false, new Clock(), "the host");
  }

  /** A host does something after which {@code known} comes. */
  public void hostActs(Clock known) {
    known.hostActed(++hostActs);
  }

  /** A device reads what a host has stored where the machine does not look. */
  public void readsOfHost(Actor device) {
    if (host != null) {
      device.learns(known.get());
    }
  }

  /** Notes from now on in which orders strong accesses are seen that nothing orders. */
  public SeenOrders noteOrders() {
    SeenOrders noted = new SeenOrders();
    orders = noted;
    return noted;
  }

  public void listen(AccessLog listener) {
    log = listener;
  }

  /** A number for events that belong to no actor. */
  public int nextNumber() {
    return numbers++;
  }

  /** A word turns out to be a doorbell record, which may be read at any time. */
  public void markRecord(Region region) {
    Cell cell = cell(region.address());
    cell.readers.clear();
    cell.record = region;
  }

  /** The word at {@code address} if it was ever touched. */
  public @Nullable Cell find(long address) {
    return cells.find(address);
  }

  public interface Records {
    void recordStored(Region region, Write write, long before);
  }

  public void onRecord(Records listener) {
    records = listener;
  }

  /** True when a store from outside of the machine was made to a word. */
  public boolean isOverwritten(Cell cell) {
    return cell.value() != backing.word(cell.address);
  }

  /** A load of a thread. Zero-extended. */
  public long load(Actor actor, long address, int bytes, int access, @Nullable Object at) {
    Cell cell = cell(address);
    long mask = Words.ones(bytes) << Words.shift(address);
    int strength = Semantics.strong(access);
    Write newest = newest(cell, mask);
    if (newest != null) {
      checks.checkLoad(actor, cell, mask, address, bytes, strength, at);
    }
    boolean open = orders != null && newest != null && !actor.knows(newest);
    boolean fresh = log != null && log.repeats(cell.address, at);
    Write seen = pick(actor, cell, newest, mask, fresh);
    loaded = cell;
    stale = seen != newest;
    if (log != null) {
      log.read(cell.address, Semantics.isStrong(strength), stale, at);
    }
    if (Semantics.isStrong(strength)) {
      if (orders != null) {
        if (open && newest != null && Semantics.isStrong(newest.access)) {
          orders.loaded(actor, at, newest, seen);
        }
        cell.strongReaders().add(actor, cell.onGpu, mask, strength, at);
      }
      observe(actor, cell, seen, strength);
    } else {
      cell.readers.add(actor, cell.onGpu, mask, strength, at);
    }
    return (seen == null ? before(cell, newest) : seen.value) >>> Words.shift(address)
        & Words.ones(bytes);
  }

  /**
   * A device's DMA read of data that has to be there already: whatever was stored must be ordered
   * before it.
   */
  public long read(Actor device, long address, int bytes, @Nullable Object at) {
    return read(device, address, bytes, at, true);
  }

  /** A device's DMA read of a word that may be behind, the doorbell record. */
  public long readRecord(Actor device, long address, int bytes, @Nullable Object at) {
    return read(device, address, bytes, at, false);
  }

  private long read(Actor device, long address, int bytes, @Nullable Object at, boolean data) {
    Cell cell = cell(address);
    long mask = Words.ones(bytes) << Words.shift(address);
    Write newest = newest(cell, mask);
    if (data) {
      checks.checkDmaRead(device, cell, mask, address, bytes, at);
      cell.readers.add(device, cell.onGpu, mask, Access.WEAK, at);
    } else if (newest != null) {
      checks.checkLoad(device, cell, mask, address, bytes, Access.ACQUIRE | Access.SYS, at);
    }
    Write seen = pick(device, cell, newest, mask, false);
    if (log != null) {
      log.read(cell.address, !data, seen != newest, null);
    }
    observe(device, cell, seen, Access.ACQUIRE | Access.SYS);
    return (seen == null ? before(cell, newest) : seen.value) >>> Words.shift(address)
        & Words.ones(bytes);
  }

  /** The newest write of a word, seen or not; null where none is remembered. */
  public @Nullable Write newest(long address) {
    Cell cell = cells.find(address & -Long.BYTES);
    return cell == null ? null : cell.newest;
  }

  /** The oldest value that {@code actor} could read. Nothing is chosen, nothing noted. */
  public long oldest(Actor actor, long address, int bytes) {
    Cell cell = cell(address);
    long mask = Words.ones(bytes) << Words.shift(address);
    Write newest = newest(cell, mask);
    Write write = newest;
    while (write != null && !actor.knows(write)) {
      Write before = older(write, mask);
      if (before == null && cell.hasForgotten(mask)) {
        break;
      }
      write = before;
    }
    return (write == null ? before(cell, newest) : write.value) >>> Words.shift(address)
        & Words.ones(bytes);
  }

  public void store(
      Actor actor, long address, int bytes, long value, int access, @Nullable Object at) {
    Cell cell = cell(address);
    long mask = Words.ones(bytes) << Words.shift(address);
    int strength = Semantics.strong(access);
    checks.checkStore(actor, cell, mask, address, bytes, strength, at);
    int epoch = actor.epoch();
    Release[] releases = handsOn(actor, cell, strength);
    append(actor, epoch, cell, mask, value << Words.shift(address), strength, at, releases);
  }

  /**
   * A device's DMA write. Its last word comes after its others, and, unless {@code relaxed}, after
   * all that the device wrote before; an acquire of it acquires those.
   *
   * @param source hands out the bytes
   */
  public void write(
      Actor device,
      long address,
      int bytes,
      boolean relaxed,
      WordSource source,
      @Nullable Object at) {
    write(device, address, bytes, relaxed, relaxed ? null : device.posted, source, at);
  }

  /**
   * Options for random exploration.
   *
   * @param first what every word hands on
   */
  private void write(
      Actor device,
      long address,
      int bytes,
      boolean relaxed,
      @Nullable Release first,
      WordSource source,
      @Nullable Object at) {
    int access = (relaxed ? Access.RELAXED : Access.RELEASE) | Access.SYS;
    Release[] earlier = first == null ? null : new Release[] {first};
    int epoch = device.epoch();
    long to = address;
    int left = bytes;
    while (left > 0) {
      int piece = Words.piece(to, left);
      boolean last = piece == left;
      if (last && !relaxed) {
        device.posted = Release.by(device, Access.SYS);
        earlier = new Release[] {device.posted};
      }
      Cell cell = cell(to);
      long mask = Words.ones(piece) << Words.shift(to);
      checks.checkStore(device, cell, mask, to, piece, access, at);
      append(device, epoch, cell, mask, source.next(piece) << Words.shift(to), access, at, earlier);
      to += piece;
      left -= piece;
    }
  }

  /**
   * A DMA write on behalf of one packet, which nothing orders but what its sender knew. All of its
   * words hand that on; the last hands the others on unless {@code relaxed}.
   *
   * @param device the unit that it arrived at
   * @param message what came with the packet; null for nothing
   * @return who wrote: an actor that has seen its writes has seen the packet
   */
  public Actor place(
      Actor device,
      @Nullable Release message,
      long address,
      int bytes,
      boolean relaxed,
      WordSource source,
      @Nullable Object at) {
    Actor packet = add(device.place, true, new Clock(), device.who());
    if (message != null) {
      packet.take(message, Access.SYS, false);
    }
    write(packet, address, bytes, relaxed, Release.by(packet, Access.SYS), source, at);
    return packet;
  }

  /** An atomic. Returns the old value, zero-extended. */
  public long atomic(
      Actor actor,
      Rmw operation,
      long address,
      int bytes,
      long operand,
      long compare,
      int access,
      @Nullable Object at) {
    Cell cell = cell(address);
    long old = observed(actor, cell, address, bytes, access, at);
    long value = operation.apply(old, bytes, operand, compare);
    if (operation != Rmw.COMPARE_AND_SWAP || old == (compare & Words.ones(bytes))) {
      replace(actor, cell, address, bytes, value, access, at);
    }
    return old;
  }

  /** A device's atomic on behalf of a peer: after all that it wrote before, and before the rest. */
  public long atomic(
      Actor device,
      DevicePort.AtomicFunction function,
      long address,
      int bytes,
      @Nullable Object at) {
    int access = Access.ACQ_REL | Access.SYS;
    Cell cell = cell(address);
    long old = observed(device, cell, address, bytes, access, at);
    replace(device, cell, address, bytes, function.apply(old), access, at);
    return old;
  }

  /** An atomic reads the newest value. */
  private long observed(
      Actor actor, Cell cell, long address, int bytes, int access, @Nullable Object at) {
    long mask = Words.ones(bytes) << Words.shift(address);
    Write newest = newest(cell, mask);
    if (log != null) {
      log.wrote(cell.address, true, at);
    }
    if (newest != null) {
      checks.checkLoad(actor, cell, mask, address, bytes, access, at);
      if (orders != null && !actor.knows(newest) && Semantics.isStrong(newest.access)) {
        orders.stored(newest, actor, at);
      }
      observe(actor, cell, newest, access);
    }
    loaded = cell;
    stale = false;
    return cell.value() >>> Words.shift(address) & Words.ones(bytes);
  }

  private void replace(
      Actor actor,
      Cell cell,
      long address,
      int bytes,
      long value,
      int access,
      @Nullable Object at) {
    long mask = Words.ones(bytes) << Words.shift(address);
    checks.checkStore(actor, cell, mask, address, bytes, access, at);
    Write replaced = newest(cell, mask);
    int epoch = actor.epoch();
    Release[] releases = handsOn(actor, cell, access);
    if (replaced != null
        && replaced.releases != null
        && checks.morallyStrong(actor, access, cell, replaced)) {
      for (Release release : replaced.releases) {
        releases = Release.add(releases, release);
      }
    }
    append(actor, epoch, cell, mask, value << Words.shift(address), access, at, releases);
  }

  public void fence(Actor actor, int access) {
    int scope = Access.scope(access);
    int semantics = Access.semantics(access);
    if (semantics != Access.RELEASE) {
      actor.takePending(0, scope);
    }
    if (semantics == Access.SC && log != null) {
      log.wrote(AccessLog.FENCES, true, null);
    }
    if (semantics == Access.SC && fences != null) {
      for (Release release : fences) {
        actor.take(release, scope, false);
      }
    }
    if (semantics != Access.ACQUIRE) {
      Release release = Release.by(actor, scope);
      actor.fenced(release);
      if (semantics == Access.SC) {
        fences = Release.add(fences, release);
      }
    }
  }

  /** Returns what a store to a device's register hands on. */
  public Release @Nullable [] handsOn(Actor actor, int access) {
    Release[] releases = actor.released();
    return Semantics.releases(access)
        ? Release.add(releases, Release.by(actor, Access.scope(access)))
        : releases;
  }

  /** A device takes what came with a store to its register. */
  public void arrived(Actor device, Release @Nullable [] releases) {
    if (releases != null) {
      for (Release release : releases) {
        device.take(release, Access.SYS, false);
      }
    }
  }

  // Rules.

  private Cell cell(long address) {
    long word = address & -Long.BYTES;
    Cell cell = cells.find(word);
    long present = backing.word(word);
    if (cell == null) {
      cell = new Cell(word, backing.onGpu(word), backing.ofBlock(word), host == null ? present : 0);
      cells.add(cell);
    }
    if (cell.value() != present) {
      cell.reset(present, host);
    }
    return cell;
  }

  private static @Nullable Write newest(Cell cell, long mask) {
    Write write = cell.newest;
    return write == null || (write.mask & mask) != 0 ? write : older(write, mask);
  }

  private static @Nullable Write older(Write write, long mask) {
    Write older = write.before;
    while (older != null && (older.mask & mask) == 0) {
      older = older.before;
    }
    return older;
  }

  /** Returns the bytes' value before all writes that are remembered. */
  private static long before(Cell cell, @Nullable Write any) {
    return any == null ? cell.value() : cell.base;
  }

  /**
   * The write that a load returns; null for what was there before.
   *
   * @param fresh the oldest is not wanted
   */
  private @Nullable Write pick(
      Actor actor, Cell cell, @Nullable Write newest, long mask, boolean fresh) {
    if (newest == null || actor.knows(newest)) {
      return newest;
    }
    int candidates = count(actor, cell, newest, mask) - (fresh ? 1 : 0);
    if (candidates <= 1 || (options.staleLoads() > 0 && actor.stale >= options.staleLoads())) {
      actor.stale = 0;
      return newest;
    }
    int chosen = chooser.choose(candidates, Chooser.Kind.VALUE);
    actor.stale = chosen == 0 ? 0 : actor.stale + 1;
    Write write = newest;
    for (int i = 0; i < chosen && write != null; i++) {
      write = older(write, mask);
    }
    return write;
  }

  private static int count(Actor actor, Cell cell, Write newest, long mask) {
    int candidates = 1;
    Write write = newest;
    while (!actor.knows(write)) {
      write = older(write, mask);
      if (write == null) {
        return cell.hasForgotten(mask) ? candidates : candidates + 1;
      }
      candidates++;
    }
    return candidates;
  }

  /** A strong load has seen {@code write}: later ones see nothing older, and releases are taken. */
  private void observe(Actor actor, Cell cell, @Nullable Write write, int access) {
    if (write == null) {
      return;
    }
    if (write.actor != actor && !checks.morallyStrong(actor, access, cell, write)) {
      return;
    }
    actor.saw(write);
    if ((access & Access.REDUCTION) != 0) {
      return;
    }
    boolean acquires = Semantics.acquires(access);
    if (write.actor.isHost && !write.isTaken) {
      write.isTaken = true;
      write.releases = Release.add(write.releases, Release.ofHost(known.get()));
    }
    Release[] releases = write.releases;
    if (releases != null) {
      for (Release release : releases) {
        if (!(acquires && actor.take(release, Access.scope(access), checks.isResident(cell)))) {
          actor.keep(cell.address, checks.isResident(cell), release);
        }
      }
    }
    if (acquires) {
      actor.takePending(cell.address, Access.scope(access));
    }
  }

  /** Returns what a store hands on: fences before it, releases of the same word, and itself. */
  private static Release @Nullable [] handsOn(Actor actor, Cell cell, int access) {
    if (!Semantics.isStrong(access)) {
      return null;
    }
    Release[] releases = actor.released();
    if (Semantics.releases(access)) {
      Release own = Release.by(actor, Access.scope(access));
      actor.releasedTo(cell.address, own);
      return Release.add(releases, own);
    }
    Release earlier = actor.releasedTo(cell.address);
    return earlier == null ? releases : Release.add(releases, earlier);
  }

  private void append(
      Actor actor,
      int epoch,
      Cell cell,
      long mask,
      long value,
      int access,
      @Nullable Object at,
      Release @Nullable [] releases) {
    if (log != null) {
      log.wrote(cell.address, Semantics.isStrong(access), at);
    }
    Write before = cell.newest;
    SeenOrders seen = orders;
    if (seen != null && Semantics.isStrong(access)) {
      if (before != null
          && !actor.knows(before)
          && (before.mask & mask) != 0
          && Semantics.isStrong(before.access)) {
        seen.stored(before, actor, at);
      }
      cell.strongReaders()
          .unknownTo(
              actor,
              cell.onGpu,
              mask,
              (reader, how, where) -> seen.storedOver(reader, where, actor, at));
    }
    long word = (cell.value() & ~mask) | (value & mask);
    long old = cell.value();
    cell.newest =
        new Write(cell, cell.nextOrder(), word, mask, actor, epoch, access, at, releases, before);
    if (Semantics.isForSystem(access)) {
      cell.newest.hostActs = hostActs;
    }
    if (options.history() != Integer.MAX_VALUE) {
      cell.forget(options.history());
    }
    cell.readers.clear();
    if (seen != null) {
      cell.strongReaders().clear();
    }
    backing.store(cell.address, word, mask);
    cell.stored();
    Region record = cell.record;
    if (record != null && records != null) {
      records.recordStored(record, cell.newest, old);
    }
  }

  /** Hands out what a device writes. */
  @FunctionalInterface
  public interface WordSource {
    /** The next {@code bytes} bytes, little-endian. */
    long next(int bytes);
  }
}
