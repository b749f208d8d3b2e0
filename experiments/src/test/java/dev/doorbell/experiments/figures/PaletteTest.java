package dev.doorbell.experiments.figures;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.figures.Palette.Style;
import dev.doorbell.experiments.figures.drawing.Ink;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class PaletteTest {

  @Test
  void colours_are_those_of_okabe_and_ito_without_the_yellow() {
    assertThat(Palette.STYLES)
        .extracting(style -> style.ink().hex())
        .containsExactlyInAnyOrder(
            "#000000", "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#cc79a7");
  }

  @Test
  void every_path_has_a_colour_and_a_marker_of_its_own() {
    List<Style> styles = List.copyOf(Palette.assign(ModelledRun.PATHS).values());
    assertThat(new HashSet<>(styles.stream().map(Style::ink).toList())).hasSize(7);
    assertThat(new HashSet<>(styles.stream().map(Style::marker).toList())).hasSize(7);
  }

  @Test
  void a_path_looks_the_same_whichever_others_are_drawn() {
    Style alone = Palette.assign(List.of("push.memic")).get("push.memic");
    assertThat(Palette.assign(ModelledRun.PATHS)).containsEntry("push.memic", alone);
    assertThat(Palette.assign(List.of("a", "push.memic", "b"))).containsEntry("push.memic", alone);
  }

  @Test
  void other_series_take_what_is_free_and_never_a_paths_style() {
    var styles = Palette.assign(List.of("1 thread", "pull", "2 threads"));
    assertThat(new HashSet<>(styles.values())).hasSize(3);
    assertThat(styles.sequencedKeySet()).containsExactly("1 thread", "pull", "2 threads");
  }

  @Test
  void more_series_than_styles_begin_again() {
    List<String> many = java.util.stream.IntStream.range(0, 9).mapToObj(i -> "s" + i).toList();
    assertThat(Palette.assign(many).get("s7")).isEqualTo(Palette.assign(many).get("s0"));
  }

  @Test
  void tints_go_from_white_to_the_colour() {
    Ink blue = new Ink(0x0072B2);
    assertThat(blue.tint(0)).isEqualTo(Ink.WHITE);
    assertThat(blue.tint(1)).isEqualTo(blue);
    assertThat(blue.tint(0.5)).isEqualTo(new Ink(0x80B9D9));
  }
}
