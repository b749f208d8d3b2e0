package dev.doorbell.core.fabric.timed.interconnect;

import dev.doorbell.core.fabric.timed.link.Multipath;
import dev.doorbell.core.fabric.timed.link.Route;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The way in which the threads or devices of one component reach one allocation. */
public final class AccessPath {
  public final Allocation allocation;

  public final Component owner;

  /** True for doorbell pages. */
  public final boolean uar;

  /** True for memory that costs nothing and that nothing watches. */
  public final boolean scratch;

  /** At the accessing component itself: no link is crossed. */
  public final boolean local;

  /** Over NVLink, where each posted write is acknowledged; PCIe acknowledges none. */
  public final boolean near;

  /** To the members of a multicast object, which {@code multimem} reaches together; else null. */
  final @Nullable Members members;

  /**
   * The members of a multicast object.
   *
   * @param paths to the memory of each
   * @param from where the memory of each begins
   */
  @SuppressWarnings("ArrayRecordComponent") // shared on purpose
  record Members(Multipath way, List<AccessPath> paths, long[] from) {}

  private final @Nullable Route out;
  private final @Nullable Route back;
  private final long start;
  private final long end;
  private final int generation;

  AccessPath(
      Allocation allocation,
      Component owner,
      boolean near,
      @Nullable Route out,
      @Nullable Route back,
      @Nullable Members members,
      int generation) {
    this.allocation = allocation;
    this.owner = owner;
    this.uar = allocation.kind() == MemoryKind.UAR;
    this.scratch = allocation.kind() == MemoryKind.SCRATCH;
    this.local = out == null;
    this.near = near;
    this.members = members;
    this.out = out;
    this.back = back;
    this.start = allocation.address();
    this.end = start + allocation.size();
    this.generation = generation;
  }

  boolean covers(long address, long bytes, int currentGeneration) {
    return address >= start && address + bytes <= end && generation == currentGeneration;
  }

  /** Returns the number of members of a multicast object; 0 for other memory. */
  public int multiplicity() {
    return members == null ? 0 : members.from.length;
  }

  /** Returns the address of {@code address} of a multicast object in a member. */
  public long inMember(int member, long address) {
    return Objects.requireNonNull(members).from[member] + address - start;
  }

  /** The same as {@link #out} and {@link #back}, for a multicast object. */
  public Multipath way() {
    return Objects.requireNonNull(members).way;
  }

  /** Requests and posted writes travel here. */
  public Route out() {
    if (out == null) {
      throw new IllegalStateException("local memory has no route");
    }
    return out;
  }

  /** Completions and acknowledgements travel here. */
  public Route back() {
    if (back == null) {
      throw new IllegalStateException("local memory has no route");
    }
    return back;
  }

  /** Between peers reads may not be routed; the host's memory and the host always are. */
  public boolean readableFrom(Component reader) {
    return out().routesPeerReads
        || reader.locus.part() == Locus.Part.CPU
        || owner.locus.part() == Locus.Part.CPU;
  }

  /** Picoseconds of a read there and back that carries nothing. */
  public long roundTrip() {
    return out().latency + (uar ? owner.registerService : owner.service) + back().latency;
  }

  /** Picoseconds from the arrival of a posted write until its acknowledgement is back. */
  public long acknowledgement() {
    return owner.service + back().latency;
  }

  /** Completions of a read are cut at multiples of this. */
  public int completionCut() {
    int payload = back().maxPayload;
    return owner.completionBytes == 0 ? payload : Math.min(payload, owner.completionBytes);
  }
}
