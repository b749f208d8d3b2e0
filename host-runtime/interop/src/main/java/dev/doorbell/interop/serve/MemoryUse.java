package dev.doorbell.interop.serve;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * The memory of this process, in bytes.
 *
 * @param heap that objects occupy after a collection
 * @param resident pages of the process in memory (RSS)
 * @param outside resident pages outside the heap: code, classes, stacks, native memory
 */
public record MemoryUse(long heap, long resident, long outside) {
  private static final Path MAPPINGS = Path.of("/proc/self/smaps");
  private static final int COLLECTIONS = 2;
  private static final int HEX = 16;

  /** A line of smaps that begins a mapping, and one that says how much of it is resident. */
  private static final Pattern MAPPING = Pattern.compile("([0-9a-f]+)-[0-9a-f]+ .*");

  private static final Pattern RESIDENT = Pattern.compile("Rss: +(\\d+) kB");

  /** An address in the JVM's description of the heap. */
  private static final Pattern ADDRESS = Pattern.compile("0x([0-9a-f]{8,16})[,)]");

  /**
   * Collects garbage, and returns what is left.
   *
   * @throws IOException when the system does not say which pages are resident
   */
  static MemoryUse afterCollection() throws IOException {
    for (int i = 0; i < COLLECTIONS; i++) {
      System.gc();
    }
    long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    long from = Long.MAX_VALUE;
    long to = 0;
    Matcher address = ADDRESS.matcher(heapInfo());
    while (address.find()) {
      long place = Long.parseUnsignedLong(address.group(1), HEX);
      from = Math.min(from, place);
      to = Math.max(to, place);
    }
    return read(heap, Files.readAllLines(MAPPINGS), from, to);
  }

  /**
   * Adds up the resident pages.
   *
   * @param smaps lines of {@code /proc/PID/smaps}
   * @param from first address of the heap
   * @param to address after the heap
   */
  static MemoryUse read(long heap, List<String> smaps, long from, long to) {
    long resident = 0;
    long outside = 0;
    boolean isHeap = false;
    for (String line : smaps) {
      Matcher mapping = MAPPING.matcher(line);
      Matcher pages = RESIDENT.matcher(line);
      if (mapping.matches()) {
        long start = Long.parseUnsignedLong(mapping.group(1), HEX);
        isHeap = start >= from && start < to;
      } else if (pages.matches()) {
        long bytes = Long.parseLong(pages.group(1)) << 10;
        resident += bytes;
        outside += isHeap ? 0 : bytes;
      }
    }
    return new MemoryUse(heap, resident, outside);
  }

  /** What {@code jcmd PID GC.heap_info} prints. */
  private static String heapInfo() throws IOException {
    MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
    try {
      return String.valueOf(
          beans.invoke(
              new ObjectName("com.sun.management:type=DiagnosticCommand"),
              "gcHeapInfo",
              null,
              null));
    } catch (JMException e) {
      throw new IOException("the JVM does not say where its heap lies", e);
    }
  }
}
