package dev.doorbell.core.fabric.timed.machine;

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
    double miss,
    long cacheBytes,
    long deviceCacheBytes,
    double far,
    int translations,
    int pageBytes,
    double walk,
    double walkInterval) {

  /** Memory of which all is cached and nothing translated. */
  public static final MemoryPrices PLAIN = new MemoryPrices(0, 0, 0, 0, 0, 4096, 0, 0);

  public MemoryPrices {
    if (Integer.bitCount(pageBytes) != 1 || pageBytes < Tlp.REQUEST_BOUNDARY) {
      throw new IllegalArgumentException("pageBytes=" + pageBytes);
    }
  }

  /** The same memory where nothing is translated. */
  public MemoryPrices withoutIommu() {
    return new MemoryPrices(
        miss, cacheBytes, deviceCacheBytes, far, 0, pageBytes, walk, walkInterval);
  }

  /** Whether caches are modelled. */
  public boolean caches() {
    return cacheBytes > 0;
  }
}
