package dev.doorbell.experiments.workbench.dma;

import dev.doorbell.core.problem.Nearest;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * One measurement of a {@link DmaProbe}. As text it is words such as {@code transfer=read-rate
 * bytes=64 window=8192 offset=1 cache=cold device=1 memory=1 iommu=on}, of which the first two are
 * required.
 *
 * @param transfer what is done
 * @param bytes of a transfer, at most 4 KiB
 * @param window bytes of host memory in which the transfers lie, in random order; each begins at a
 *     multiple of 64 bytes plus {@code offset}
 * @param offset bytes, less than 64
 * @param warm whether the CPU wrote the window before
 * @param device which device of the topology: the number of an HCA
 * @param memory whose memory: the number of a CPU of the topology
 * @param iommu whether the IOMMU translates; where the topology has none, it makes no difference
 */
public record DmaSetting(
    DmaTransfer transfer,
    int bytes,
    long window,
    int offset,
    boolean warm,
    int device,
    int memory,
    boolean iommu) {
  /** The window of pcie-bench's sweeps of sizes. */
  public static final long WINDOW = 8192;

  private static final int MOST_BYTES = 4096;
  private static final long MOST_WINDOW = 1L << 30;
  private static final List<String> KEYS =
      List.of("transfer", "bytes", "window", "offset", "cache", "device", "memory", "iommu");

  public DmaSetting {
    if (bytes < 1 || bytes > MOST_BYTES || offset < 0 || offset >= DmaProbe.LINE || device < 0) {
      throw new IllegalArgumentException(
          "bytes=%d must be 1 to %d, offset=%d 0 to %d, device=%d at least 0"
              .formatted(bytes, MOST_BYTES, offset, DmaProbe.LINE - 1, device));
    }
    if (window < DmaProbe.stride(bytes, offset) || window > MOST_WINDOW) {
      throw new IllegalArgumentException(
          "window=%d must hold a transfer of %d bytes, and be %d at most"
              .formatted(window, bytes, MOST_WINDOW));
    }
  }

  /**
   * Reads a setting.
   *
   * @throws IllegalArgumentException with a sentence for users
   */
  public static DmaSetting parse(String text) {
    Map<String, String> given = new HashMap<>();
    for (String word : text.strip().split("\\s+", -1)) {
      String[] parts = word.split("=", 2);
      if (parts.length != 2 || !KEYS.contains(parts[0])) {
        throw new IllegalArgumentException(
            "'%s' is not a setting of a DMA measurement%s; there are %s"
                .formatted(word, Nearest.suggestion(parts[0], KEYS), KEYS));
      }
      given.put(parts[0], parts[1]);
    }
    return new DmaSetting(
        transfer(required(given, "transfer", text)),
        Integer.parseInt(required(given, "bytes", text)),
        Long.parseLong(given.getOrDefault("window", Long.toString(WINDOW))),
        Integer.parseInt(given.getOrDefault("offset", "0")),
        first(given, "cache", "warm", "cold"),
        Integer.parseInt(given.getOrDefault("device", "0")),
        Integer.parseInt(given.getOrDefault("memory", "0")),
        !first(given, "iommu", "off", "on"));
  }

  private static String required(Map<String, String> given, String key, String text) {
    String value = given.get(key);
    if (value == null) {
      throw new IllegalArgumentException("'%s' lacks '%s='".formatted(text, key));
    }
    return value;
  }

  private static DmaTransfer transfer(String word) {
    List<String> words = Arrays.stream(DmaTransfer.values()).map(DmaTransfer::word).toList();
    int index = words.indexOf(word);
    if (index < 0) {
      throw new IllegalArgumentException(
          "there is no transfer '%s'%s; there are %s"
              .formatted(word, Nearest.suggestion(word, words), words));
    }
    return List.of(DmaTransfer.values()).get(index);
  }

  /** Returns true if {@code key} has the first of two words, as it has where it is missing. */
  private static boolean first(Map<String, String> given, String key, String word, String other) {
    String value = given.getOrDefault(key, word);
    if (!List.of(word, other).contains(value)) {
      throw new IllegalArgumentException(
          "%s=%s must be %s or %s".formatted(key, value, word, other));
    }
    return value.equals(word);
  }

  /** Work that a {@link DmaProbe} repeats. */
  public enum DmaTransfer {
    /** One read at a time: nanoseconds from the command to the last byte. pcie-bench's LAT_RD. */
    READ_LATENCY("read-latency"),
    /** A write and a read of the same bytes behind it: nanoseconds for both. LAT_WRRD. */
    WRITE_READ_LATENCY("write-read-latency"),
    /** Many reads at a time: bytes a nanosecond. BW_RD. */
    READ_RATE("read-rate"),
    /** Many writes at a time: bytes a nanosecond. BW_WR. */
    WRITE_RATE("write-rate");

    private final String word;

    DmaTransfer(String word) {
      this.word = word;
    }

    /** Its name in files. */
    public String word() {
      return word;
    }

    /** Returns true if one transfer ends before the next begins, and nanoseconds are the result. */
    public boolean latency() {
      return this == READ_LATENCY || this == WRITE_READ_LATENCY;
    }
  }
}
