package dev.doorbell.core.fabric.explore.model;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.explore.model.Cell.Write;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A source of loads and stores: what it has seen, what it has released, what it has yet to take.
 */
public final class Actor {
  private static final int SCOPE_SHIFT = 4;
  private static final int WORDS = 8;
  private static final int MANY = 8;

  public final int number;
  final ScopeLocation place;

  /** True for a device: see {@link Policy}. */
  final boolean device;

  /** True for the host of all programs. */
  final boolean isHost;

  /** Clock of what happened before this actor's next action. */
  public final Clock clock;

  /**
   * The same for memory that lies in the GPU of a device's machine; the same object where the
   * policy makes no difference.
   */
  final Clock resident;

  /** Clock of what it knew when it began. */
  final Clock start;

  /** Loads in a row that did not return the newest value. */
  int stale;

  /** The last release-side fence of each scope. */
  private final @Nullable Release[] fences = new Release[(Access.SYS >> SCOPE_SHIFT) + 1];

  /**
   * Clocks that releases to single words gave, which later strong stores to the same word give
   * again.
   */
  private final long[] releasedWords = new long[WORDS];

  private final @Nullable Release[] releases = new Release[WORDS];
  private int nextRelease;

  /** Releases that relaxed loads have seen, for a fence or an acquire of the same word to take. */
  private List<Seen> pending = new ArrayList<>(0);

  /** The release that a device's last DMA write handed on. */
  @Nullable Release posted;

  /** The last release of scope sys, of whatever kind. */
  private @Nullable Release toSystem;

  private final Object who;

  /** The thread whose bulk copy this is the reader of, or null. */
  private @Nullable Actor proxyOf;

  /** Clock of what this thread knew at its last proxy fence; null where there was none. */
  private @Nullable Clock proxied;

  /** The epochs that its proxy fences began. */
  private int[] proxyFences = new int[0];

  /** The actor and the epoch by which it reads: a unit of a device reads for requests. */
  private int readNumber;

  private int readEpoch;

  /** A release and the word where it was seen. */
  private record Seen(long address, boolean resident, Release release) {}

  Actor(int number, ScopeLocation place, boolean device, Policy policy, Clock start, Object who) {
    this.number = number;
    this.place = place;
    this.device = device;
    this.isHost = place.equals(ScopeLocation.HOST);
    this.start = start;
    this.who = who;
    clock = start.copy();
    clock.set(number, start.get(number) + 1);
    resident = device && policy == Policy.VENDOR ? clock.copy() : clock;
    readNumber = number;
  }

  public ScopeLocation place() {
    return place;
  }

  public Object who() {
    return who;
  }

  public boolean isDevice() {
    return device;
  }

  int epoch() {
    return clock.get(number);
  }

  void releasesToSystem(Release release) {
    toSystem = release;
  }

  /** Returns the last release of scope sys, or null. */
  public @Nullable Release releasedToSystem() {
    return toSystem;
  }

  /** All of {@code past} comes before the next action of this actor. */
  public void learns(Clock past) {
    clock.join(past);
    if (resident != clock) {
      resident.join(past);
    }
  }

  /** Reads by the asynchronous proxy on behalf of {@code thread}; as others do when it is null. */
  void reads(@Nullable Actor thread) {
    proxyOf = thread;
  }

  /** A proxy fence of this thread. */
  public void fencedProxy() {
    nextEpoch();
    proxyFences = Arrays.copyOf(proxyFences, proxyFences.length + 1);
    proxyFences[proxyFences.length - 1] = epoch();
    proxied = clock.copy();
  }

  /**
   * True when no proxy fence lets this copy see {@code write}: neither one of the writer behind it,
   * which this copy comes after, nor one of the copy's thread which came after it.
   */
  boolean isHiddenFromProxy(Write write) {
    Actor thread = proxyOf;
    if (thread == null) {
      return false;
    }
    Clock own = thread.proxied;
    if (own != null && own.covers(write.actor.number, write.epoch)) {
      return false;
    }
    for (int fence : write.actor.proxyFences) {
      if (fence > write.epoch) {
        return !clock.covers(write.actor.number, fence);
      }
    }
    return true;
  }

  /** Begins an epoch: what happens from now on is not covered by what was released until now. */
  public void nextEpoch() {
    int next = clock.get(number) + 1;
    clock.set(number, next);
    if (resident != clock) {
      resident.set(number, next);
    }
  }

  /** Reads from now on are over when what this actor does now is. */
  public void readsAsItself() {
    readNumber = number;
  }

  /** Reads from now on are over when {@link #hasRead} says so. */
  public void readsAs(int number, int epoch) {
    readNumber = number;
    readEpoch = epoch;
  }

  int readNumber() {
    return readNumber;
  }

  int readEpoch() {
    return readNumber == number ? epoch() : readEpoch;
  }

  /** Reads as {@code reader} up to {@code epoch} are over. */
  public void hasRead(int reader, int epoch) {
    clock.raise(reader, epoch);
    if (resident != clock) {
      resident.raise(reader, epoch);
    }
  }

  /** Records that what {@code other} did and knew comes before what this actor does from now on. */
  public void follows(Actor other) {
    clock.join(other.clock);
    if (resident != clock) {
      resident.join(other.resident);
    }
    other.nextEpoch();
  }

  /** A strong load has seen {@code write}. */
  void saw(Write write) {
    clock.saw(write);
    if (resident != clock) {
      resident.saw(write);
    }
  }

  /**
   * True when {@code write} comes before what this actor does now, with all that its actor did
   * before, or alone. A host's are never found to come late.
   */
  public boolean knows(Write write) {
    Clock known = write.cell.onGpu ? resident : clock;
    return write.actor == this
        || write.actor.isHost
        || (write.cell.ofBlock && !write.actor.place.equals(place))
        || known.knows(write);
  }

  /** True when the event of {@code actor} in {@code epoch} comes before what this one does now. */
  boolean knows(int actor, int epoch, boolean onGpu) {
    return actor == number || (onGpu ? resident : clock).covers(actor, epoch);
  }

  /**
   * Takes a release if the scopes allow it.
   *
   * @param onGpu it was seen in memory for which {@link ScopeLocation#residentScopeWith} holds
   */
  public boolean take(Release release, int scope, boolean onGpu) {
    if (release.isKnownTo(clock)) {
      return true;
    }
    int needed =
        onGpu && !device ? place.residentScopeWith(release.from) : place.scopeWith(release.from);
    if (scope >= needed && release.scope >= needed) {
      clock.join(release.clock);
      if (resident != clock) {
        resident.join(release.clock);
      }
      return true;
    }
    if (resident != clock && takesAsResident(release)) {
      resident.join(release.clock);
      return true;
    }
    return false;
  }

  /** True when a device would take a release for memory on a GPU, or elsewhere. */
  public boolean mayTake(Release release, boolean onGpu) {
    return release.scope >= place.scopeWith(release.from)
        || (onGpu && resident != clock && takesAsResident(release));
  }

  private boolean takesAsResident(Release release) {
    return release.scope >= Access.GPU
        && release.from.gpu() >= 0
        && release.from.rank() == place.rank();
  }

  /** Keeps a release for a later fence or acquire. */
  void keep(long address, boolean onGpu, Release release) {
    if (release.isKnownTo(clock)) {
      return;
    }
    for (Seen seen : pending) {
      if (seen.release == release) {
        return;
      }
    }
    pending.add(new Seen(address, onGpu, release));
    if (pending.size() > MANY) {
      shorten();
    }
  }

  /** Merges what is kept: the words are forgotten, only fences take it then. */
  private void shorten() {
    List<Seen> all = pending;
    pending = new ArrayList<>();
    shorten(all, false);
    shorten(all, true);
  }

  private void shorten(List<Seen> all, boolean onGpu) {
    Release[] merged = null;
    for (Seen seen : all) {
      if (seen.resident == onGpu) {
        merged = Release.add(merged, seen.release);
      }
    }
    if (merged != null) {
      for (Release release : merged) {
        pending.add(new Seen(0, onGpu, release));
      }
    }
  }

  /** An acquire of {@code address}, or of any word for 0, takes what was kept. */
  void takePending(long address, int scope) {
    if (!pending.isEmpty()) {
      pending.removeIf(
          seen ->
              (address == 0 || seen.address == address)
                  && take(seen.release, scope, seen.resident));
    }
  }

  void fenced(Release release) {
    fences[release.scope >> SCOPE_SHIFT] = release;
  }

  /** Returns what a strong store hands on by the fences before it. */
  Release @Nullable [] released() {
    Release[] list = null;
    for (Release release : fences) {
      if (release != null) {
        list = Release.add(list, release);
      }
    }
    return list;
  }

  void releasedTo(long address, Release release) {
    for (int i = 0; i < WORDS; i++) {
      if (releasedWords[i] == address) {
        releases[i] = release;
        return;
      }
    }
    releasedWords[nextRelease] = address;
    releases[nextRelease] = release;
    nextRelease = (nextRelease + 1) % WORDS;
  }

  @Nullable Release releasedTo(long address) {
    for (int i = 0; i < WORDS; i++) {
      if (releasedWords[i] == address) {
        return releases[i];
      }
    }
    return null;
  }

  @Override
  public String toString() {
    return who.toString();
  }

  /** A barrier's round, or another meeting: all that arrive before it is left come before that. */
  public static final class Meeting {
    private final Clock sum = new Clock();

    public void arrive(Actor actor) {
      sum.join(actor.clock);
      actor.nextEpoch();
    }

    public void leave(Actor actor) {
      actor.clock.join(sum);
    }
  }

  /**
   * The place of an actor, as scopes see it.
   *
   * @param rank its machine
   * @param gpu the GPU of that machine, from 0; or {@link #NO_GPU} or {@link #DEVICE}
   * @param block its CTA among all of the world, or anything outside a GPU
   */
  public record ScopeLocation(int rank, int gpu, long block) {
    /** On no GPU: the CPU. */
    public static final int NO_GPU = -1;

    /** The host of all programs. */
    static final ScopeLocation HOST = new ScopeLocation(0, NO_GPU, -1);

    /** On no GPU: a device. */
    public static final int DEVICE = -2;

    public static ScopeLocation thread(int rank, int gpu, long block) {
      return new ScopeLocation(rank, gpu, block);
    }

    public static ScopeLocation host(int rank) {
      return new ScopeLocation(rank, NO_GPU, 0);
    }

    public static ScopeLocation device(int rank) {
      return new ScopeLocation(rank, DEVICE, 0);
    }

    /** The narrowest {@link Access} scope that holds both. */
    public int scopeWith(ScopeLocation other) {
      if (gpu < 0 || rank != other.rank || gpu != other.gpu) {
        return Access.SYS;
      }
      return block == other.block ? Access.CTA : Access.GPU;
    }

    /**
     * Does the same as {@link #scopeWith}, for memory that lies in a GPU, in the reading of {@link
     * Policy#VENDOR}.
     */
    int residentScopeWith(ScopeLocation other) {
      boolean deviceAndThread =
          rank == other.rank
              && ((gpu == DEVICE && other.gpu >= 0) || (gpu >= 0 && other.gpu == DEVICE));
      return deviceAndThread ? Access.GPU : scopeWith(other);
    }
  }
}
