package dev.doorbell.experiments.scenario.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.config.schema.Vocabulary;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Quantity;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.PointBench;
import dev.doorbell.experiments.scenario.SessionRuntime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Messages that wait at their sender. */
class SchedulingPointTest {
  private static final Message LONG = new Message(0, 1000, false, 0, 500);
  private static final Message URGENT = new Message(1, 900, true, 1, 600);
  private static final Message DUE = new Message(2, 800, false, 2, 100);
  private static final Message SHORT = new Message(3, 10, false, 3, 700);

  private static final String FEW = "messages: 24, size: 1K, bulk: 64K, chunk: 16K, schedule: ";

  private final SessionRuntime runtime = new SessionRuntime();

  private static Point point(String settings) throws ConfigException {
    String config =
        """
        experiment: e
        question: q?
        kernel: put_bandwidth
        axes: { window: [2] }
        fixed: { %s }
        measure: { metrics: [response, response.urgent, missed, completion], warmup: 0, samples: 1 }
        """
            .formatted(settings);
    return Plan.of(new ConfigReader(Vocabulary.anything()).read("e.yaml", config, List.of()))
        .points()
        .getFirst();
  }

  private PointResult run(String settings) throws Exception {
    Point point = point(settings);
    assertThat(runtime.check(point)).isEmpty();
    return runtime
        .runner(runtime.choose(new Environment.Request("auto", "auto", "virtual")))
        .run(point, new PointBench());
  }

  private static double[] of(PointResult result, String metric) {
    return result.samples().stream()
        .filter(samples -> samples.metric().equals(metric))
        .map(Samples::values)
        .findFirst()
        .orElseThrow();
  }

  @ParameterizedTest
  @CsvSource({
    "FIFO, 0 1 2 3",
    "PRIORITY, 1 0 2 3",
    "SHORTEST, 3 2 1 0",
    "DEADLINE, 2 0 1 3",
    "INTERLEAVED, 0 1 2 3"
  })
  void a_schedule_takes_one_message_after_the_other(Schedule schedule, String order) {
    List<Message> waiting = new ArrayList<>(List.of(LONG, URGENT, DUE, SHORT));
    List<String> taken = new ArrayList<>();
    while (!waiting.isEmpty()) {
      Message next = schedule.next(waiting);
      waiting.remove(next);
      taken.add(Integer.toString(next.number()));
    }
    assertThat(String.join(" ", taken)).isEqualTo(order);
  }

  @Test
  void interleaved_messages_alone_go_in_pieces() {
    assertThat(Schedule.INTERLEAVED.piece(100, 64)).isEqualTo(64);
    assertThat(Schedule.INTERLEAVED.piece(36, 64)).isEqualTo(36);
    assertThat(Schedule.FIFO.piece(100, 64)).isEqualTo(100);
  }

  @Test
  void messages_arrive_at_the_rate_that_is_asked_for_and_are_due_later() {
    List<Message> messages = new Message.Mix(4000, 1000, 5000, 10_000).arriving(2, 1);
    double bytes = messages.stream().mapToLong(Message::bytes).sum();
    assertThat(bytes / messages.getLast().arrival()).isBetween(1.8, 2.2);
    assertThat(messages).extracting(Message::bytes).containsOnly(1000, 5000);
    assertThat(messages)
        .allSatisfy(
            message -> assertThat(message.due() - message.arrival()).isBetween(999L, 10_001L));
    assertThat(messages.stream().filter(Message::urgent).count()).isBetween(900L, 1100L);
    assertThat(new Message.Mix(9, 1, 2, 10).arriving(0, 1))
        .allSatisfy(message -> assertThat(message.arrival()).isZero());
  }

  @ParameterizedTest
  @CsvSource({"fifo", "priority", "shortest", "deadline", "interleaved"})
  void every_byte_of_every_message_arrives_under_every_schedule(String schedule) throws Exception {
    PointResult result = run(FEW + schedule);
    long expected =
        new Message.Mix(24, 1024, 65536, 1).arriving(0, 0).stream().mapToLong(Message::bytes).sum();
    assertThat(result.verifiedBytes()).isEqualTo(expected);
    double[] responses = of(result, "response");
    assertThat(responses).hasSize(24);
    assertThat(of(result, "completion"))
        .containsExactly(Arrays.stream(responses).max().orElseThrow());
  }

  @Test
  void shortest_first_waits_least_in_the_mean_and_urgent_messages_wait_less_by_priority()
      throws Exception {
    PointResult fifo = run(FEW + "fifo");
    PointResult shortest = run(FEW + "shortest");
    PointResult priority = run(FEW + "priority");
    assertThat(mean(shortest, "response")).isLessThan(mean(fifo, "response"));
    assertThat(mean(priority, "response.urgent")).isLessThan(mean(fifo, "response.urgent"));
  }

  private static double mean(PointResult result, String metric) {
    return Arrays.stream(of(result, metric)).average().orElseThrow();
  }

  @Test
  void messages_that_arrive_one_by_one_do_not_wait() throws Exception {
    PointResult result = run("schedule: fifo, messages: 12, load: 1, size: 64K, deadline: 1000000");
    double[] responses = of(result, "response");
    assertThat(Arrays.stream(responses).max().orElseThrow())
        .isLessThan(1.5 * Arrays.stream(responses).min().orElseThrow());
    assertThat(result.counters()).containsEntry("missed", Quantity.count(0));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "schedule: fifo, path: push.inline|use pull or pull.bf",
        "schedule: fifo, messages: 1000, bulk: 1M|use fewer or smaller messages",
        "schedule: interleaved, messages: 1000, chunk: 64|use a larger chunk"
      })
  void impossible_points_are_refused_with_a_fix(String settings, String fix) throws Exception {
    List<Problem> problems = runtime.check(point(settings));
    assertThat(problems).extracting(Problem::code).contains("DB-P037");
    assertThat(problems.toString()).contains(fix);
  }
}
