package dev.doorbell.core.fabric.timed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.fabric.timed.machine.CpuPrices;
import dev.doorbell.core.fabric.timed.machine.Path;
import dev.doorbell.core.fabric.timed.machine.Prices;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Latencies that come out of stores, fences, doorbells and DMA alone, against values computed by
 * hand from round constants: from "data ready in GPU memory" until the HCA holds all payload and
 * may emit. Sizes 8, 64, 512, 4096 and 65536 bytes.
 */
class PathLatencyTest {
  private static final int WEAK = Access.WEAK;
  private static final int DEVICE_FENCE = Access.SC | Access.GPU;
  private static final int SYSTEM_FENCE = Access.SC | Access.SYS;
  private static final int MMIO = Access.MMIO | Access.SYS;
  private static final int[] SIZES = {8, 64, 512, 4096, 65536};
  private static final int INLINE_ROOM = 36;

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "a1, 1454, 1456, 1471, 1600, 3813",
    "a3, 2674, 2676, 2691, 2820, 5033",
    "a4, 4244, 4246, 4261, 4390, 6603",
    "a5, 1624, 1626, 1641, 1770, 3983",
    "b1, 1873, 1875,     ,     ,     ",
    "b3,  623,  626,     ,     ,     ",
    "c1, 1124, 1126, 1143, 1285, 3723",
    "c2, 1974, 1976, 1993, 2135, 4573",
    "d,  4235, 4239, 4272, 4543, 9193",
    "e1, 2154, 2156, 2171, 2300, 4513",
  })
  void under_one_switch(String path, Long b8, Long b64, Long b512, Long b4k, Long b64k) {
    meets(RoundConstants.sameSwitch(), path, b8, b64, b512, b4k, b64k);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "a1, 2754, 2763, 2837, 3424, 13497",
    "a3, 5924, 5933, 6007, 6594, 16666",
    "a4, 6194, 6203, 6277, 6864, 16936",
    "a5, 3574, 3583, 3657, 4244, 14317",
    "b1, 3823, 3825,     ,     ,      ",
    "b3, 1273, 1276,     ,     ,      ",
    "c1, 3074, 3077, 3109, 3359,  7656",
    "c2, 5224, 5227, 5259, 5509,  9806",
    "d,  4885, 4889, 4922, 5193,  9843",
    "e1, 3454, 3463, 3537, 4124, 14197",
  })
  void across_sockets(String path, Long b8, Long b64, Long b512, Long b4k, Long b64k) {
    meets(RoundConstants.acrossSockets(), path, b8, b64, b512, b4k, b64k);
  }

  @ParameterizedTest
  @ValueSource(strings = {"a1", "a3", "a4", "a5", "b1", "b3", "c1", "c2", "d", "e1"})
  void more_bytes_longer_ways_and_slower_links_never_make_a_path_faster(String path) {
    for (Topology topology : List.of(RoundConstants.sameSwitch(), RoundConstants.acrossSockets())) {
      Topology far = with(topology, "paths", topology.paths(), each -> Map.of("hops", twice(each)));
      Topology slow =
          with(
              topology,
              "links",
              topology.links(),
              each -> Map.of("bytesPerNano", each.bytesPerNano() / 2));
      long before = 0;
      for (int bytes : thirtySizes()) {
        if (path.startsWith("b") && bytes > 512) {
          break;
        }
        long nanos = new Post(topology, path, bytes).run();
        assertThat(nanos)
            .as("%s of %d bytes, %s", path, bytes, topology.name())
            .isGreaterThanOrEqualTo(before)
            .isLessThanOrEqualTo(new Post(slow, path, bytes).run())
            .isLessThan(new Post(far, path, bytes).run());
        before = nanos;
      }
    }
  }

  /** From 8 bytes to 64 KiB. */
  private static int[] thirtySizes() {
    return IntStream.range(0, 30)
        .map(i -> (int) Math.round(8 * Math.pow(2, i * 13 / 29.0)))
        .map(bytes -> bytes < 16 ? 8 : bytes / 16 * 16)
        .toArray();
  }

  private static List<Path.Hop> twice(Path path) {
    return path.hops().stream().map(hop -> new Path.Hop(hop.link(), 2 * hop.nanos())).toList();
  }

  private static <R extends Record> Topology with(
      Topology topology, String name, List<R> parts, Function<R, Map<String, ?>> changes) {
    return Prices.with(
        topology,
        Map.of(name, parts.stream().map(part -> Prices.with(part, changes.apply(part))).toList()));
  }

  private static void meets(Topology topology, String path, Long... expected) {
    for (int i = 0; i < SIZES.length; i++) {
      if (expected[i] != null) {
        long nanos = new Post(topology, path, SIZES[i]).run();
        assertThat(nanos)
            .as("%s of %d bytes, %s", path, SIZES[i], topology.name())
            .isCloseTo(expected[i], within(Math.round(expected[i] * 0.03)));
      }
    }
  }

  /** One post over one path. */
  private static final class Post {
    private final World world;
    private final Topology topology;
    private final String path;
    private final int bytes;
    private final Allocation payload;
    private final Allocation device;
    private final Allocation host;
    private final Allocation onChip;
    private final boolean inline;
    private final int blocks;

    Post(Topology topology, String path, int bytes) {
      this.topology = topology;
      this.path = path;
      this.bytes = bytes;
      this.world = new World(new TimedFabric(topology, 1));
      this.payload = world.allocate(MemoryKind.DEVICE, bytes);
      this.device = world.allocate(MemoryKind.DEVICE, 8192);
      this.host = world.allocate(MemoryKind.HOST, 8192 + bytes);
      this.onChip = world.allocate(MemoryKind.NIC, bytes);
      this.inline = path.startsWith("b");
      this.blocks = inline ? (bytes + INLINE_ROOM + 63) / 64 : 1;
      RawMemory.putByte(payload.address(), (byte) 0x11);
      RawMemory.putByte(payload.address() + bytes - 1, (byte) 0x22);
    }

    long run() {
      boolean inHost = path.equals("a4") || path.equals("d");
      long ring = inHost ? host.address() : device.address();
      try (world;
          TinyHca hca = new TinyHca(world.fabric, topology.nics().get(0), ring, blocks)) {
        World.Script poster = script(hca, ring);
        RunOutcome outcome = world.fabric.run(() -> hca.readyAt >= 0, World.FOREVER);
        assertThat(outcome).as("%s", poster.where()).isEqualTo(RunOutcome.DONE);
        assertThat(hca.last).isEqualTo(0x22);
        assertThat(hca.first).isEqualTo(bytes == 1 ? 0x22 : 0x11);
        return hca.readyAt;
      }
    }

    private World.Script script(TinyHca hca, long ring) {
      CpuPrices prices = topology.cpus().get(0);
      if (path.equals("a1")) {
        return blueFlame(
            world.thread(World.CPU).then(p -> p.spend(nanos(prices.post()))),
            hca,
            payload.address());
      }
      World.Script gpu =
          world
              .thread(World.GPU)
              .then(p -> p.atomic(Rmw.ADD, device.address() + 4096, 8, 1, 0, Access.RELAXED));
      long record = (path.equals("a4") || path.equals("d") ? host : device).address() + 4096;
      switch (path) {
        case "a3", "b1" -> {
          writeWqe(gpu, address -> ring + address, payload.address());
          post(gpu, hca, record, DEVICE_FENCE);
        }
        case "a4" -> {
          writeWqe(gpu, address -> ring + address, payload.address());
          post(gpu, hca, record, SYSTEM_FENCE);
        }
        case "a5" -> {
          gpu.then(p -> p.store32(record, 1, WEAK)).then(p -> p.fence(DEVICE_FENCE));
          blueFlame(gpu, hca, payload.address());
        }
        case "b3" -> blueFlame(gpu, hca, payload.address());
        case "c1" -> {
          stage(gpu, onChip.address());
          gpu.then(p -> p.fence(SYSTEM_FENCE));
          blueFlame(gpu, hca, onChip.address());
        }
        case "c2" -> {
          stage(gpu, onChip.address());
          gpu.then(p -> p.fence(SYSTEM_FENCE));
          writeWqe(gpu, address -> ring + address, onChip.address());
          // The formula has one fence: the WQE is drained beside the payload.
          gpu.then(p -> p.store64(hca.doorbell(), 1, MMIO));
        }
        case "d" -> {
          stage(gpu, host.address() + 8192);
          writeWqe(gpu, address -> ring + address, host.address() + 8192);
          post(gpu, hca, record, SYSTEM_FENCE);
        }
        case "e1" -> {
          long command = host.address() + 4096;
          gpu.then(p -> p.store64(command, 1, Access.RELEASE | Access.SYS));
          World.Script cpu =
              world
                  .thread(World.CPU)
                  .poll(p -> p.load64(command, Access.ACQUIRE | Access.SYS), 1)
                  .then(p -> p.spend(nanos(prices.poll() + prices.post())));
          return blueFlame(cpu, hca, payload.address());
        }
        default -> throw new IllegalArgumentException(path);
      }
      return gpu;
    }

    private static long nanos(double price) {
      return Math.round(price);
    }

    /** Fence, doorbell record, fence, doorbell. */
    private void post(World.Script script, TinyHca hca, long record, int fence) {
      script
          .then(p -> p.fence(fence))
          .then(p -> p.store32(record, 1, WEAK))
          .then(p -> p.fence(fence))
          .then(p -> p.store64(hca.doorbell(), 1, MMIO));
    }

    private World.Script blueFlame(World.Script script, TinyHca hca, long source) {
      writeWqe(script, offset -> hca.doorbell() + offset, source);
      return script;
    }

    private void writeWqe(World.Script script, LongUnaryOperator place, long source) {
      int words = blocks * TinyHca.BLOCK / Long.BYTES;
      long[] wqe = new long[words];
      wqe[0] = inline ? 0 : source;
      wqe[1] = bytes;
      wqe[2] = blocks;
      if (inline) {
        for (int i = 0; i < bytes; i += Long.BYTES) {
          wqe[(TinyHca.HEADER + i) / Long.BYTES] = RawMemory.getLong(payload.address() + i);
        }
      }
      for (int i = 0; i < words; i += 2) {
        int at = i;
        script.then(p -> p.store128(place.applyAsLong(at * 8L), wqe[at], wqe[at + 1], WEAK));
      }
    }

    /** Copies the payload, 16 bytes a store where there are as many. */
    private void stage(World.Script script, long target) {
      for (int i = 0; i < bytes; i += 16) {
        int at = i;
        script.then(p -> copy(p, payload.address() + at, target + at));
      }
    }

    private void copy(ThreadPort port, long from, long to) {
      if (bytes < 16) {
        port.store64(to, RawMemory.getLong(from), WEAK);
      } else {
        port.store128(to, RawMemory.getLong(from), RawMemory.getLong(from + 8), WEAK);
      }
    }
  }
}
