package dev.doorbell.experiments.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.fuzz.FuzzTarget.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class FuzzCampaignTest {
  private static final Duration LONG = Duration.ofMinutes(5);

  @Test
  void a_reader_that_reads_or_refuses_stands() {
    FuzzResult result =
        campaign(100, LONG)
            .run(target(input -> input.length % 2 == 0 ? Outcome.ACCEPTED : Outcome.REFUSED));
    assertThat(result.inputs()).isEqualTo(100);
    assertThat(result.accepted() + result.refused()).isEqualTo(100);
    assertThat(result.accepted()).isPositive();
    assertThat(result.stood()).isTrue();
  }

  @Test
  void an_exception_is_a_crash_that_is_told_once_and_counted_each_time() {
    FuzzResult result =
        campaign(50, LONG)
            .run(
                target(
                    input -> {
                      throw new StackOverflowError("deep");
                    }));
    assertThat(result.crashes()).isEqualTo(50);
    assertThat(result.findings()).hasSize(1);
    assertThat(result.findings().getFirst().detail())
        .contains("StackOverflowError", "FuzzCampaign");
    assertThat(result.stood()).isFalse();
  }

  @Test
  void a_reader_that_never_ends_is_left_behind_and_the_next_input_is_read() {
    CountDownLatch never = new CountDownLatch(1);
    List<byte[]> seen = Collections.synchronizedList(new ArrayList<>());
    FuzzResult result =
        campaign(3, Duration.ofMillis(200))
            .run(
                target(
                    input -> {
                      seen.add(input);
                      if (seen.size() == 2) {
                        never.await();
                      }
                      return Outcome.ACCEPTED;
                    }));
    assertThat(result.hangs()).isEqualTo(1);
    assertThat(result.inputs()).isEqualTo(3);
    assertThat(result.findings().getFirst().input()).isEqualTo(seen.get(1));
    assertThat(result.findings().getFirst().detail()).contains("await");
  }

  @Test
  void changed_memory_is_a_finding() {
    FuzzResult result = campaign(5, LONG).run(target(_ -> Outcome.MEMORY_CHANGED));
    assertThat(result.memoryChanges()).isEqualTo(5);
    assertThat(result.stood()).isFalse();
  }

  @Test
  void an_input_depends_on_the_seed_and_its_number_alone() {
    List<byte[]> all = new ArrayList<>();
    List<byte[]> last = new ArrayList<>();
    new FuzzCampaign(7, 0, 10, LONG, () -> false).run(target(keepingIn(all)));
    new FuzzCampaign(7, 9, 1, LONG, () -> false).run(target(keepingIn(last)));
    assertThat(last).hasSize(1);
    assertThat(last.getFirst()).isEqualTo(all.get(9));
    assertThat(all.get(8)).isNotEqualTo(all.get(9));
  }

  private static FuzzTarget.Reader keepingIn(List<byte[]> inputs) {
    return input -> {
      inputs.add(input);
      return Outcome.ACCEPTED;
    };
  }

  private static FuzzCampaign campaign(long inputs, Duration deadline) {
    return new FuzzCampaign(1, 0, inputs, deadline, () -> false);
  }

  private static FuzzTarget target(FuzzTarget.Reader reader) {
    return FuzzTarget.of(
        "test", "nothing", () -> Mutator.bytes("a: 1\nb: [2, 3]\n"), List.of(), reader);
  }
}
