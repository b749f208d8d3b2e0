package dev.doorbell.experiments.results.paper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.problem.Problem;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PaperTextTest {
  @Test
  void a_caption_is_text_and_no_markup() {
    List<Problem> problems = new ArrayList<>();
    String markdown =
        new PaperText("paper.md", "{{figure latency}}", problems)
            .markdown(
                new PaperText.Generated(
                    Map.of(),
                    Map.of("latency", "generated/latency.svg"),
                    Map.of(),
                    Map.of("latency", "a<script>alert(1)</script> [b](javascript:x)")));
    assertThat(problems).isEmpty();
    assertThat(markdown)
        .contains("generated/latency.svg")
        .doesNotContain("<script>")
        .doesNotContain("[b](");
  }
}
