package dev.doorbell.core.fabric.timed;

import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import org.jspecify.annotations.Nullable;

/** How one place reaches one allocation. */
final class Reach {
  final Allocation allocation;
  final Place owner;
  final boolean uar;
  final boolean scratch;

  /** At the accessing place itself: no link is crossed. */
  final boolean local;

  private final @Nullable Route out;
  private final @Nullable Route back;
  private final long start;
  private final long end;
  private final int generation;

  Reach(
      Allocation allocation,
      Place owner,
      @Nullable Route out,
      @Nullable Route back,
      int generation) {
    this.allocation = allocation;
    this.owner = owner;
    this.uar = allocation.kind() == MemoryKind.UAR;
    this.scratch = allocation.kind() == MemoryKind.SCRATCH;
    this.local = out == null;
    this.out = out;
    this.back = back;
    this.start = allocation.address();
    this.end = start + allocation.size();
    this.generation = generation;
  }

  boolean covers(long address, long bytes, int currentGeneration) {
    return address >= start && address + bytes <= end && generation == currentGeneration;
  }

  /** Requests and posted writes travel here. */
  Route out() {
    if (out == null) {
      throw new IllegalStateException("local memory has no route");
    }
    return out;
  }

  /** Completions and acknowledgements travel here. */
  Route back() {
    if (back == null) {
      throw new IllegalStateException("local memory has no route");
    }
    return back;
  }

  /** Between peers reads may not be routed; the host's memory and the host always are. */
  boolean readableFrom(Place reader) {
    return out().routesPeerReads
        || reader.locus.part() == Locus.Part.CPU
        || owner.locus.part() == Locus.Part.CPU;
  }

  /** From the departure's arrival until the sender knows of it. */
  long acknowledgement() {
    return owner.service + back().latency;
  }

  /** Completions of a read are cut at multiples of this. */
  int completionCut() {
    int payload = back().maxPayload;
    return owner.completionBytes == 0 ? payload : Math.min(payload, owner.completionBytes);
  }
}
