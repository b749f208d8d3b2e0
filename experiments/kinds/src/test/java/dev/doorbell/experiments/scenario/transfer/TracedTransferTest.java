package dev.doorbell.experiments.scenario.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.pcap.CaptureException;
import dev.doorbell.core.pcap.CaptureReader;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.config.schema.Vocabulary;
import dev.doorbell.experiments.plan.Influence;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.Timeline;
import dev.doorbell.experiments.plan.Timeline.Kind;
import dev.doorbell.experiments.plan.Timeline.Step;
import dev.doorbell.experiments.scenario.SessionRuntime;
import dev.doorbell.experiments.topology.TopologyFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One message's story, from the real kernels in virtual time. */
class TracedTransferTest {
  private static final SessionRuntime RUNTIME = new SessionRuntime();

  @TempDir private Path folder;

  private static Point point(String path, int size) throws IOException, ConfigException {
    ConfigReader reader =
        new ConfigReader(
            new Vocabulary(
                RUNTIME.catalogue().kernels().stream().map(k -> k.name()).toList(),
                TopologyFile.names()));
    return Plan.of(
            reader.read(
                "pull-vs-push.yaml",
                Files.readString(Path.of("configs/pull-vs-push.yaml")),
                List.of("path=" + path, "placement=same-switch", "size=" + size)))
        .points()
        .getFirst();
  }

  private static Step first(Timeline timeline, Kind kind) {
    return timeline.steps().stream()
        .filter(step -> step.kind() == kind)
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + kind + " in " + timeline));
  }

  @ParameterizedTest
  @ValueSource(strings = {"pull", "pull.bf", "push.inline", "push.bf", "push.memic", "staged"})
  void a_message_goes_from_its_wqe_to_its_cqe_in_causal_order(String path)
      throws IOException, ConfigException, PointFailure {
    Timeline timeline = RUNTIME.timeline(point(path, 64), null);
    long doorbell = first(timeline, Kind.DOORBELL).until();
    long emitted = first(timeline, Kind.EMITTED).until();
    Step packet = first(timeline, Kind.PACKET);
    long visible = first(timeline, Kind.VISIBLE).until();
    long completion = first(timeline, Kind.CQE).until();
    assertThat(first(timeline, Kind.WQE_STORE).from()).isLessThan(doorbell);
    assertThat(List.of(doorbell, emitted, packet.until(), visible, completion)).isSorted();
    assertThat(packet.from()).isGreaterThanOrEqualTo(emitted);
    assertThat(first(timeline, Kind.VISIBLE).place()).isEqualTo("rank1.gpu0");
    assertThat(timeline.steps()).allMatch(step -> step.from() >= 0 && step.until() >= step.from());
  }

  @Test
  void only_paths_that_stage_store_payload_and_only_pulls_read_it()
      throws IOException, ConfigException, PointFailure {
    Timeline pull = RUNTIME.timeline(point("pull", 4096), null);
    assertThat(pull.steps()).noneMatch(step -> step.kind() == Kind.PAYLOAD_STORE);
    assertThat(pull.steps()).anyMatch(step -> step.kind() == Kind.READ_TLP && step.bytes() == 4096);
    Timeline push = RUNTIME.timeline(point("push.memic", 4096), null);
    assertThat(first(push, Kind.PAYLOAD_STORE).bytes()).isEqualTo(4096);
    assertThat(push.steps())
        .noneMatch(step -> step.kind() == Kind.READ_TLP && step.bytes() == 4096);
  }

  @Test
  void the_same_point_gives_the_same_timeline() throws IOException, ConfigException, PointFailure {
    assertThat(RUNTIME.timeline(point("pull", 64), null))
        .isEqualTo(RUNTIME.timeline(point("pull", 64), null));
  }

  @Test
  void packets_are_kept_in_a_capture()
      throws IOException, ConfigException, PointFailure, CaptureException {
    Path capture = folder.resolve("one.pcapng");
    Timeline timeline = RUNTIME.timeline(point("pull", 8192), capture);
    long packets = timeline.steps().stream().filter(s -> s.kind() == Kind.PACKET).count();
    assertThat(packets).as("two of 4096 bytes and an acknowledgement").isEqualTo(3);
    assertThat(CaptureReader.read(capture).frames()).hasSize(3);
  }

  @Test
  void a_longer_way_makes_a_pull_slower_and_a_constant_of_another_path_does_not_matter()
      throws IOException, ConfigException {
    List<Influence> influences = RUNTIME.sensitivity(point("pull", 64), "latency", 0.2);
    Influence hop = of(influences, "gpu0-nic0.hop1.ns");
    assertThat(hop.low()).isEqualTo(0.8 * 435);
    assertThat(hop.atHigh()).isGreaterThan(hop.atLow());
    // Five trips between GPU and HCA, and one at the target.
    assertThat(hop.swing()).isCloseTo(6 * 0.4 * 435, org.assertj.core.api.Assertions.within(1.0));
    assertThat(of(influences, "gpu0.copy_engine_start_ns").swing()).isZero();
  }

  @Test
  void a_measured_constant_is_moved_by_its_interval() throws IOException, ConfigException {
    Point here = point("pull", 64);
    var settings = new java.util.LinkedHashMap<>(here.settings());
    settings.put(
        "placement",
        new dev.doorbell.experiments.config.value.Value.Text("../papers/h200-prices/machine.json"));
    Point measured =
        new Point(
            here.index(),
            here.id(),
            here.configHash(),
            here.kernels(),
            here.axes(),
            settings,
            here.seed(),
            here.metrics(),
            here.warmup(),
            here.samples(),
            here.launches(),
            here.timeout(),
            here.faults());
    Influence load = of(RUNTIME.sensitivity(measured, "latency", 0.2), "gpu0.strong_load_ns");
    assertThat(load.range()).isEqualTo("95 % interval");
    assertThat(load.high() - load.low()).isBetween(0.01, 1.0);
  }

  @Test
  void constants_keep_their_origin_and_source() throws IOException, ConfigException {
    var constants = RUNTIME.constants(List.of(point("pull", 64)));
    var load =
        constants.stream()
            .filter(constant -> constant.name().equals("same-switch.gpu0.load_ns"))
            .findFirst()
            .orElseThrow();
    assertThat(load.origin())
        .isEqualTo(dev.doorbell.experiments.plan.ModelConstant.Origin.MEASURED_HERE);
    assertThat(load.source()).startsWith("dependent load of local memory");
  }

  private static Influence of(List<Influence> influences, String key) {
    return influences.stream()
        .filter(influence -> influence.constant().name().endsWith("." + key))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + key));
  }
}
