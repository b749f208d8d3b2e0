package dev.doorbell.experiments.results.formats;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.plan.Timeline;
import dev.doorbell.experiments.plan.Timeline.Kind;
import dev.doorbell.experiments.plan.Timeline.Step;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The fields that the Trace Event Format document demands of each phase. */
class ChromeTraceTest {
  private static final Timeline TIMELINE =
      new Timeline(
          "one message",
          List.of(
              new Step(0, 25, "rank0.gpu0", "rank0.gpu0", Kind.WQE_STORE, 48, "WQE"),
              new Step(25, 685, "rank0.gpu0", "rank0.nic0", Kind.WRITE_TLP, 8, "MWr"),
              new Step(900, 1900, "rank0.nic0", "rank1.nic0", Kind.PACKET, 146, "frame")));

  private static final JsonNode ROOT =
      JsonMapper.builder().build().readTree(ChromeTrace.of(TIMELINE, "modelled"));

  private static List<JsonNode> events(String phase) {
    List<JsonNode> events = new ArrayList<>();
    for (JsonNode event : ROOT.get("traceEvents")) {
      if (event.get("ph").asString().equals(phase)) {
        events.add(event);
      }
    }
    return events;
  }

  @Test
  void every_step_is_a_complete_event_in_microseconds() {
    assertThat(events("X")).hasSize(3);
    JsonNode first = events("X").getFirst();
    assertThat(first.get("ts").asDouble()).isZero();
    assertThat(first.get("dur").asDouble()).isEqualTo(0.025);
    assertThat(first.get("name").asString()).isEqualTo("WQE stored");
    assertThat(events("X").getLast().get("ts").asDouble()).isEqualTo(0.9);
  }

  @Test
  void what_travels_is_an_arrow_from_its_place_to_its_target() {
    assertThat(events("s")).hasSize(2);
    assertThat(events("f")).hasSize(2);
    JsonNode start = events("s").getLast();
    JsonNode end = events("f").getLast();
    assertThat(start.get("id")).isEqualTo(end.get("id"));
    assertThat(start.get("pid").asInt()).isZero();
    assertThat(end.get("pid").asInt()).isEqualTo(1);
    assertThat(end.get("bp").asString()).isEqualTo("e");
    assertThat(end.get("ts").asDouble()).isEqualTo(1.9);
  }

  @Test
  void places_have_names_and_the_file_its_basis() {
    assertThat(events("M").stream().map(event -> event.get("args").get("name").asString()))
        .contains("rank 0", "rank 1", "rank0.gpu0", "rank0.nic0", "rank1.nic0");
    assertThat(ROOT.get("otherData").get("basis").asString()).isEqualTo("modelled");
  }
}
