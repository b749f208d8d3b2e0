package dev.doorbell.core.fabric.timed.machine;

import java.util.Map;

/**
 * Costs of a CPU's accesses, in nanoseconds of the accessing thread, and how it behaves on PCIe.
 *
 * @param instruction one instruction, where a thread counts them
 * @param load a load of host memory that its caches hold
 * @param store a store to host memory
 * @param atomic an atomic on host memory
 * @param post building a work request; spent by the program that does it, not by the fabric
 * @param poll from the poll that finds something until the thread acts on it; likewise
 * @param memoryService from the arrival of a read at the CPU until its first completion leaves
 * @param storeGranule a write-combining buffer's bytes
 * @param combineWindow how long such a buffer waits for further stores when nothing else flushes it
 * @param completionBytes the CPU cuts completions at multiples of this; 0 means at the largest
 *     payload
 * @param memory how its memory answers devices
 * @param finer what is known beyond these
 */
public record CpuPrices(
    @Price(cycles = 1) double instruction,
    @Price(cycles = 1) double load,
    @Price(cycles = 1) double store,
    @Price(cycles = 1) double atomic,
    @Price(cycles = 1) double post,
    double poll,
    double memoryService,
    @Price(key = "store_granule_bytes") int storeGranule,
    double combineWindow,
    int completionBytes,
    @Price(key = "memory") MemoryPrices memory,
    CpuRefinements finer) {

  /**
   * Returns these prices at another clock of the cores: what a core does is cycles, and what it
   * waits for in the mesh follows the mesh's clock. Prices without a clock stay.
   */
  public CpuPrices at(double ghz) {
    double mesh = finer.mesh(ghz);
    Map<String, ?> others =
        Map.of(
            "clock", ghz, "turbo", 0, "line", finer.line * mesh, "doorbell", finer.doorbell * mesh);
    return Prices.with(
        Prices.scaled(this, finer.clock == 1 ? 1 : finer.clock / ghz),
        Map.of("poll", poll * mesh, "finer", Prices.with(finer, others)));
  }

  /**
   * Costs of a CPU thread that posts and polls, split into what depends on its clock and what does
   * not: a piece of work takes C cycles and B nanoseconds in the mesh, C / f + B * {@link #mesh} at
   * a clock of f GHz. A topology may leave out all of it.
   *
   * @param clock cycles in a nanosecond
   * @param postCycles building one work request, beside {@link CpuPrices#post}
   * @param doorbellCycles ringing once, for one work request or a chain of them: until the store to
   *     the doorbell page has left the core
   * @param completionCycles taking one CQE
   * @param line a load of a cache line that a device has just written, in nanoseconds: each command
   *     and each CQE takes one
   * @param doorbell the mesh's part of ringing once, in nanoseconds
   * @param turbo highest clock; 0: the mesh takes the same time at each
   * @param uncore clock of the mesh while the cores are at {@code clock}
   * @param uncoreTurbo the same while they are at {@code turbo}; between, it rises in proportion
   */
  public record CpuRefinements(
      @Price(key = "clock_ghz", standard = 1) double clock,
      @Price(key = "post_cycles") double postCycles,
      @Price(key = "doorbell_cycles") double doorbellCycles,
      @Price(key = "completion_cycles") double completionCycles,
      double line,
      double doorbell,
      @Price(key = "turbo_ghz") double turbo,
      @Price(key = "uncore_ghz", standard = 1) double uncore,
      @Price(key = "uncore_turbo_ghz", standard = 1) double uncoreTurbo) {

    /** Factor on times in the mesh while the cores' clock is {@code ghz}. */
    public double mesh(double ghz) {
      if (turbo <= clock) {
        return 1;
      }
      double share = Math.clamp((ghz - clock) / (turbo - clock), 0, 1);
      return uncore / (uncore + share * (uncoreTurbo - uncore));
    }
  }

  /**
   * Answers of host memory to the DMA of devices: what its caches hold, and what its IOMMU
   * translates. Times are in nanoseconds, beyond {@link CpuPrices#memoryService}.
   *
   * @param miss of a read of a line that no cache holds, because nothing wrote it lately
   * @param cacheBytes of the last-level cache; 0: caches hold everything
   * @param deviceCacheBytes the part of it that writes of devices may take (Intel: DDIO)
   * @param far of a read of what no device wrote lately, where the memory lies at another socket
   *     than the devices: what they write is cached at theirs
   * @param translations pages whose translation the IOMMU holds; 0: nothing is translated
   * @param pageBytes of a page of the IOMMU
   * @param walk of a page-table walk, before the data can be read or becomes visible
   * @param walkInterval between the starts of two walks
   */
  public record MemoryPrices(
      double miss,
      long cacheBytes,
      long deviceCacheBytes,
      double far,
      @Price(key = "iommu_translations") int translations,
      @Price(key = "iommu_page_bytes", standard = 4096) int pageBytes,
      @Price(key = "iommu_walk_ns") double walk,
      @Price(key = "iommu_walk_interval_ns") double walkInterval) {

    public MemoryPrices {
      if (Integer.bitCount(pageBytes) != 1 || pageBytes < Tlp.REQUEST_BOUNDARY) {
        throw new IllegalArgumentException("pageBytes=" + pageBytes);
      }
    }

    /** Returns true if caches hold everything and nothing is translated. */
    public boolean isPlain() {
      return equals(Prices.of(MemoryPrices.class, Map.of()));
    }

    /** Returns true if caches are modelled. */
    public boolean caches() {
      return cacheBytes > 0;
    }
  }
}
