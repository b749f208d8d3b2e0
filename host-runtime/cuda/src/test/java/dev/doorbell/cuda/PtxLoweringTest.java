package dev.doorbell.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PtxLoweringTest {
  private static final String FILE =
      """
      // made by nvcc
      .version 9.0
      .target sm_75
      .visible .entry ring(.param .u64 db) {
        st.mmio.relaxed.sys.global.u64 [%rd1], %rd2;
        // .version 9.0
      }
      """;

  @ParameterizedTest
  @CsvSource({
    "11040, 74",
    "11080, 78",
    "12000, 80",
    "12010, 81",
    "12020, 82",
    "12050, 85",
    "12060, 85",
    "12070, 86",
    "12080, 87",
    "12090, 88",
    "13000, 90",
    "13010, 2147483647",
    "10020, 65"
  })
  void every_driver_takes_the_ptx_of_its_own_release(int driver, int newest) {
    assertThat(PtxLowering.newest(driver)).isEqualTo(newest);
  }

  @Test
  void a_file_that_the_driver_knows_stays_as_it_is() {
    assertThat(PtxLowering.lower(FILE, 90)).isSameAs(FILE);
    assertThat(PtxLowering.lower(FILE, Integer.MAX_VALUE)).isSameAs(FILE);
  }

  @Test
  void a_newer_file_is_given_the_drivers_version_and_nothing_else_changes() {
    assertThat(PtxLowering.lower(FILE, 82))
        .isEqualTo(FILE.replaceFirst("\n\\.version 9.0", "\n.version 8.2"));
  }

  @Test
  void a_driver_without_mmio_gets_relaxed_stores() {
    assertThat(PtxLowering.lower(FILE, 80))
        .contains("\n.version 8.0\n")
        .contains("st.relaxed.sys.global.u64 [%rd1]")
        .doesNotContain("mmio");
  }
}
