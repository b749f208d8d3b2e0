package dev.doorbell.experiments.scenario.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.fabric.timed.machine.Topology.Constant;
import dev.doorbell.experiments.plan.Timeline;
import dev.doorbell.experiments.plan.Timeline.Kind;
import dev.doorbell.experiments.scenario.PointBench;
import dev.doorbell.experiments.topology.TopologyFile;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Properties of one message's way, on every machine. */
class MachinePropertiesTest {
  /**
   * All paths but those with payload in a WQE: the kernel encodes a sector of 32 bytes at once, and
   * what remains word by word, so that 48 bytes may take longer than 64.
   */
  private static final List<String> PATHS =
      List.of("pull", "pull.bf", "staged", "proxy", "push.memic");

  private static final int SIZES = 30;

  /** All machines whose HCA has queue pairs and reads the GPU's memory. */
  static List<String> machines() {
    return TopologyFile.names().stream()
        .filter(name -> !name.startsWith("pciebench") && !name.equals("no-p2p-reads"))
        .toList();
  }

  /** From 8 bytes to 64 KiB; units of 16 bytes, which the GPU stores. */
  private static int[] sizes() {
    return IntStream.range(0, SIZES)
        .map(i -> (int) Math.round(8 * Math.pow(2, 13 * i / (SIZES - 1.0))))
        .map(size -> size < 16 ? 8 : size / 16 * 16)
        .toArray();
  }

  /** Nanoseconds from the first store until the CQE is visible. */
  private static long done(Topology topology, String path, int size) throws Exception {
    String[] axes = {"path=" + path, "size=" + size, "placement=same-switch"};
    String measure = "measure: { metrics: [goodput] }";
    Timeline timeline =
        new TransferKind()
            .timeline(PointBench.point(axes, "kernel: put_bandwidth", measure), topology, null);
    return timeline.steps().stream()
        .filter(step -> step.kind() == Kind.CQE)
        .mapToLong(Timeline.Step::until)
        .max()
        .orElseThrow();
  }

  @ParameterizedTest
  @MethodSource("machines")
  void a_larger_message_is_never_done_earlier(String machine) throws Exception {
    Topology topology = TopologyFile.load(machine);
    List<String> wrong = new ArrayList<>();
    for (String path : PATHS) {
      long before = 0;
      // A line of the GPU that is full leaves at once, another one waits for further stores.
      double line = path.equals("push.memic") ? topology.gpus().getFirst().combineWindow() : 0;
      for (int size : sizes()) {
        long done = done(topology, path, size);
        if (done < before - line) {
          wrong.add("%s, %d bytes: %d ns after %d".formatted(path, size, done, before));
        }
        before = Math.max(before, done);
      }
    }
    assertThat(wrong).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("machines")
  void longer_ways_and_slower_links_make_no_message_earlier(String machine) throws Exception {
    Topology topology = TopologyFile.load(machine);
    Topology far = with(machine, topology, key -> key.contains(".hop"));
    Topology slow = with(machine, topology, key -> key.endsWith("gb_s"));
    for (String path : PATHS) {
      long done = done(topology, path, 200);
      assertThat(done(far, path, 200)).as(path + ", longer ways").isGreaterThanOrEqualTo(done);
      assertThat(done(slow, path, 200)).as(path + ", slower").isGreaterThanOrEqualTo(done);
    }
  }

  /** Times twice as long, or rates half as high, of the constants that are named. */
  private static Topology with(String machine, Topology topology, Predicate<String> named)
      throws Exception {
    Map<String, Double> changed = new HashMap<>();
    for (Constant constant : topology.constants()) {
      if (named.test(constant.key())) {
        double value = constant.value();
        changed.put(constant.key(), constant.unit().equals("ns") ? 2 * value : value / 2);
      }
    }
    assertThat(changed).as("constants of " + machine).isNotEmpty();
    return TopologyFile.load(machine, changed);
  }
}
