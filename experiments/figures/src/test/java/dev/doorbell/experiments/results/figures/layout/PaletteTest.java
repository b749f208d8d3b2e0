package dev.doorbell.experiments.results.figures.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.experiments.results.figures.ModelledRun;
import dev.doorbell.experiments.results.figures.drawing.Paint;
import dev.doorbell.experiments.results.figures.layout.Palette.Style;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PaletteTest {

  @Test
  void colours_are_those_of_okabe_and_ito_without_the_yellow() {
    assertThat(Palette.STYLES)
        .extracting(style -> style.paint().hex())
        .containsExactlyInAnyOrder(
            "#000000", "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#cc79a7");
  }

  @Test
  void every_path_has_a_colour_and_a_marker_of_its_own() {
    Palette palette = Palette.of(ModelledRun.PATHS);
    List<Style> styles = ModelledRun.PATHS.stream().map(palette::style).toList();
    assertThat(styles).extracting(Style::paint).doesNotHaveDuplicates().hasSize(7);
    assertThat(styles).extracting(Style::marker).doesNotHaveDuplicates().hasSize(7);
  }

  @Test
  void a_path_looks_the_same_whichever_others_are_drawn() {
    Style alone = Palette.of(List.of("push.memic")).style("push.memic");
    assertThat(Palette.of(ModelledRun.PATHS).style("push.memic")).isEqualTo(alone);
    assertThat(Palette.of(List.of("a", "push.memic", "b")).style("push.memic")).isEqualTo(alone);
  }

  @Test
  void other_series_take_what_is_free_and_never_a_paths_style() {
    List<String> series = List.of("1 thread", "pull", "2 threads");
    Palette palette = Palette.of(series);
    assertThat(series.stream().map(palette::style)).doesNotHaveDuplicates();
  }

  @Test
  void more_series_than_colours_begin_again_with_other_markers() {
    List<String> series = IntStream.range(0, 40).mapToObj(i -> "s" + i).toList();
    Palette palette = Palette.of(series);
    assertThat(palette.style("s7").paint()).isEqualTo(palette.style("s0").paint());
    assertThat(series.stream().map(palette::style)).doesNotHaveDuplicates();
  }

  @Test
  void two_paths_of_one_style_differ_where_both_are_drawn() {
    Palette palette = Palette.of(List.of("push.bf", "push.ring"));
    assertThat(palette.style("push.ring")).isNotEqualTo(palette.style("push.bf"));
  }

  @Test
  void a_series_that_was_not_named_has_no_style() {
    Palette palette = Palette.of(List.of("pull"));
    assertThatThrownBy(() -> palette.style("push"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("push");
  }

  @Test
  void tints_go_from_white_to_the_colour() {
    Paint blue = new Paint(0x0072B2);
    assertThat(blue.tint(0)).isEqualTo(Paint.WHITE);
    assertThat(blue.tint(1)).isEqualTo(blue);
    assertThat(blue.tint(0.5)).isEqualTo(new Paint(0x80B9D9));
  }
}
