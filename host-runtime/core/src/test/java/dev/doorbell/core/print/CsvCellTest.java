package dev.doorbell.core.print;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CsvCellTest {
  @ParameterizedTest
  @ValueSource(
      strings = {"=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3+cmd|'x'!A0", "-x", "\t=1", "=A1"})
  void what_a_spreadsheet_would_compute_is_shown(String text) {
    assertThat(CsvCell.text(text)).isEqualTo("'" + text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-",
        "+",
        "-3",
        "+5.2 %",
        "-1e-3",
        "-0.5 us",
        "1,024",
        "pull",
        "a=b",
        "-12 GB/s"
      })
  void numbers_and_other_text_stay_as_they_are(String text) {
    assertThat(CsvCell.text(text)).isEqualTo(text);
  }
}
