package dev.doorbell.core.fabric.timed.machine;

import java.util.Map;

/**
 * How host memory answers the DMA of devices: what its caches hold, and what its IOMMU translates.
 * Times are in nanoseconds, beyond {@link CpuPrices#memoryService}.
 *
 * @param miss of a read of a line that no cache holds, because nothing wrote it lately
 * @param cacheBytes of the last-level cache; 0: caches hold everything
 * @param deviceCacheBytes the part of it that writes of devices may take (Intel: DDIO)
 * @param far of a read of what no device wrote lately, where the memory lies at another socket than
 *     the devices: what they write is cached at theirs
 * @param translations pages whose translation the IOMMU holds; 0: nothing is translated
 * @param pageBytes of a page of the IOMMU
 * @param walk of a page-table walk, before the data can be read or becomes visible
 * @param walkInterval between the starts of two walks
 */
public record MemoryPrices(
    @Price(standard = 0) double miss,
    @Price(most = 1L << 40, standard = 0) long cacheBytes,
    @Price(most = 1L << 40, standard = 0) long deviceCacheBytes,
    @Price(standard = 0) double far,
    @Price(key = "iommu_translations", most = 1 << 20, standard = 0) int translations,
    @Price(key = "iommu_page_bytes", least = 4096, most = 1 << 30, power = true, standard = 4096)
        int pageBytes,
    @Price(key = "iommu_walk_ns", standard = 0) double walk,
    @Price(key = "iommu_walk_interval_ns", standard = 0) double walkInterval) {

  public MemoryPrices {
    if (Integer.bitCount(pageBytes) != 1 || pageBytes < Tlp.REQUEST_BOUNDARY) {
      throw new IllegalArgumentException("pageBytes=" + pageBytes);
    }
  }

  /** Returns true if caches hold everything and nothing is translated. */
  public boolean isPlain() {
    return equals(Prices.of(MemoryPrices.class, Map.of()));
  }

  /** Whether caches are modelled. */
  public boolean caches() {
    return cacheBytes > 0;
  }
}
