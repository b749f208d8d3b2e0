package dev.doorbell.experiments.scenario.posting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Quantity;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The experiments on posting, as configs run them. */
class PostingPointTest {
  private static final String BOTH = "put_rate, put_price";

  private final Points points = new Points();

  private static double fences(PointResult result) {
    Quantity fences = result.counters().get("fences");
    assertThat(fences).isNotNull();
    return fences == null ? Double.NaN : fences.value();
  }

  @ParameterizedTest
  @CsvSource({
    "direct, thread, gpu", "direct, warp, host", "cpu-rung, thread, host",
    "cpu-rung, warp, gpu", "proxy, thread, gpu", "proxy, warp, host"
  })
  void every_way_to_post_delivers_every_message(String posting, String scope, String memory)
      throws Exception {
    PointResult result =
        points.run(
            Points.point(
                BOTH,
                "rate, post, done",
                "posting=" + posting,
                "scope=" + scope,
                "sq=" + memory,
                "cq=" + memory,
                "record=" + memory,
                "payload=" + memory,
                "threads=40",
                "blocks=2",
                "qps=3"));
    assertThat(result.basis()).isEqualTo(Basis.MODELLED);
    // Three launches for the rate and one for the times, each with a message for each thread.
    assertThat(result.verifiedBytes()).isEqualTo(4 * 80 * 64);
    assertThat(Points.most(result, "rate")).isPositive();
    assertThat(Points.most(result, "done")).isGreaterThan(Points.most(result, "post"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"record-first", "record-last", "no-record", "blueflame"})
  void every_way_to_ring_delivers_every_message_as_fast_as_the_machine_can(String ringing)
      throws Exception {
    PointResult result =
        points.run(
            Points.point(BOTH, "rate, done", "ringing=" + ringing, "threads=8", "path=push.inline"),
            "wall");
    assertThat(result.basis()).isEqualTo(Basis.EMULATED);
    assertThat(result.verifiedBytes()).isEqualTo(4 * 8 * 64);
  }

  @Test
  void a_record_costs_a_lone_poster_a_second_fence() throws Exception {
    double with = fences(points.run(Points.point("put_rate", "rate, fences")));
    double without =
        fences(points.run(Points.point("put_rate", "rate, fences", "ringing=no-record")));
    assertThat(with).isCloseTo(2, within(0.01));
    assertThat(without).isCloseTo(1, within(0.01));
  }

  @Test
  void the_lanes_of_a_warp_share_their_fences() throws Exception {
    double fences =
        fences(points.run(Points.point("put_rate", "rate, fences", "scope=warp", "threads=32")));
    assertThat(fences).isCloseTo(2.0 / 32, within(0.001));
  }

  @Test
  void a_point_gives_the_same_samples_again() throws Exception {
    PointResult once = points.run(Points.point(BOTH, "rate, post, done", "threads=33"));
    PointResult again = points.run(Points.point(BOTH, "rate, post, done", "threads=33"));
    assertThat(again.samples()).isEqualTo(once.samples());
  }

  @ParameterizedTest
  @CsvSource({
    "path=staged, path staged",
    "scope=block, scope block",
    "proxies=2, CPU threads without work",
    "depth=16, a warp in a ring of fewer blocks than lanes"
  })
  void what_no_kernel_does_is_refused(String setting, String what) throws Exception {
    assertThat(
            points.problems(
                setting.startsWith("depth")
                    ? Points.point("put_rate", "rate", setting, "scope=warp")
                    : Points.point("put_rate", "rate", setting)))
        .contains(what);
  }

  @Test
  void a_metric_needs_the_kernel_that_measures_it() throws Exception {
    assertThat(points.problems(Points.point("put_rate", "rate, post")))
        .containsExactly("post is measured by put_price, and kernel is put_rate");
  }

  @ParameterizedTest
  @ValueSource(strings = {"ringing=record-first", "ringing=no-record", "sq=host", "depth=4"})
  void light_posters_deliver_every_message_for_a_look_at_the_counters_more(String setting)
      throws Exception {
    String[] settings = {"exclusive=true", "threads=2", "qps=2", setting};
    PointResult light =
        points.run(
            Points.point("put_light", "rate, post, done, look", with(settings, "rest=15000")));
    PointResult full = points.run(Points.point("put_price", "post", settings));
    assertThat(light.verifiedBytes()).isEqualTo(4 * 2 * 64);
    assertThat(Points.most(light, "post")).isLessThan(Points.most(full, "post") + 400);
    assertThat(Points.most(light, "look")).isLessThan(2000);
  }

  private static String[] with(String[] settings, String another) {
    return Stream.concat(Stream.of(settings), Stream.of(another)).toArray(String[]::new);
  }

  @ParameterizedTest
  @CsvSource({
    "exclusive=false, put_light on a shared queue pair",
    "path=push.inline, put_light with path push.inline",
    "scope=warp, put_light with scope warp",
    "posting=proxy, put_light posts and rings by itself",
    "ringing=blueflame, put_light rings by the doorbell alone",
    "'ringing=record-last', 'put_light rings once, after the record if there is one'"
  })
  void light_posters_refuse_what_they_leave_out(String setting, String what) throws Exception {
    String[] settings =
        setting.startsWith("exclusive")
            ? new String[] {setting}
            : new String[] {"exclusive=true", setting};
    assertThat(points.problems(Points.point("put_light", "rate", settings))).contains(what);
  }

  @ParameterizedTest
  @CsvSource({
    "ringing=record-first, true",
    "ringing=record-last, true",
    "sq=host, true",
    "depth=1, true",
    "ringing=no-record, false"
  })
  void posters_that_hold_their_queue_pairs_deliver_every_message_at_less(
      String setting, boolean rates) throws Exception {
    String[] settings = {"exclusive=true", "threads=2", "qps=2", setting};
    // Without a record the software HCA takes one doorbell at a time.
    String metrics = rates ? "rate, post, done, look" : "post, done, look";
    PointResult held =
        points.run(Points.point("put_exclusive", metrics, with(settings, "rest=15000")));
    PointResult full = points.run(Points.point("put_price", "post, done", settings));
    assertThat(held.verifiedBytes()).isEqualTo((rates ? 4L : 1L) * 2 * 64);
    assertThat(Points.most(held, "post")).isLessThan(Points.most(full, "post"));
    assertThat(Points.most(held, "look")).isLessThan(2000);
  }

  @ParameterizedTest
  @CsvSource({"record-first, 2", "record-last, 1"})
  void with_the_record_last_a_poster_that_holds_its_queue_pair_fences_once(
      String ringing, double expected) throws Exception {
    PointResult held =
        points.run(
            Points.point("put_exclusive", "rate, fences", "exclusive=true", "ringing=" + ringing));
    assertThat(fences(held)).isCloseTo(expected, within(0.02));
  }

  @ParameterizedTest
  @CsvSource({
    "exclusive=false, put_exclusive on a shared queue pair",
    "path=push.inline, put_exclusive with path push.inline",
    "scope=warp, put_exclusive with scope warp",
    "posting=proxy, put_exclusive posts and rings by itself",
    "ringing=blueflame, put_exclusive rings by the doorbell alone"
  })
  void posters_that_hold_their_queue_pairs_refuse_what_they_leave_out(String setting, String what)
      throws Exception {
    String[] settings =
        setting.startsWith("exclusive")
            ? new String[] {setting}
            : new String[] {"exclusive=true", setting};
    assertThat(points.problems(Points.point("put_exclusive", "rate", settings))).contains(what);
  }

  @Test
  void exclusive_queue_pairs_have_one_poster_each() throws Exception {
    assertThat(points.problems(Points.point("put_rate", "rate", "exclusive=true", "threads=2")))
        .containsExactly("2 posters share 1 queue pair, and exclusive is true");
    assertThat(
            points
                .run(Points.point("put_rate", "rate", "exclusive=true", "threads=2", "qps=2"))
                .verifiedBytes())
        .isEqualTo(3 * 2 * 64);
  }
}
