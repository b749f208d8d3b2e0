package dev.doorbell.experiments.pasted;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.pasted.PastedText.Kind;
import dev.doorbell.experiments.pasted.PastedText.Part;
import dev.doorbell.experiments.topology.machine.MachineReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PastedTextTest {
  @Test
  void a_text_is_divided_into_what_lies_in_it_and_the_rest_keeps_its_numbers() {
    PastedText text =
        PastedText.of(
            """
            the job stopped
            infiniband mlx5_0: dump error cqe
            00000000: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
            00000010: 00 00 00 00 00 00 88 13 08 00 00 11 00 05 42 d3

                    GPU0    GPU1
            GPU0     X      NV4
            GPU1    NV4      X
            # size
                   8             2     float     sum      -1    40.64    0.00    0.00      0
            and so on
            """);
    assertThat(text.parts())
        .extracting(Part::kind)
        .containsExactly(Kind.DUMP, Kind.MACHINE, Kind.TABLE);
    assertThat(text.parts())
        .extracting(Part::first, Part::last)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple(3, 4),
            org.assertj.core.groups.Tuple.tuple(6, 8),
            org.assertj.core.groups.Tuple.tuple(9, 10));
    assertThat(text.log().keySet()).containsExactly(1, 2, 11);
  }

  @ParameterizedTest
  @ValueSource(strings = {"> %s", ">> %s", "[1,0]<stdout>:%s", "\u001b[4m%s\u001b[0m", "[4m%s[0m"})
  void quotes_ranks_and_colours_are_passed_over(String form) throws Exception {
    StringBuilder lines = new StringBuilder();
    for (String line : new String[] {"\tGPU0\tNIC0", "GPU0\t X \tPIX", "NIC0\tPIX\t X "}) {
      lines.append(form.formatted(line)).append('\n');
    }
    PastedText text = PastedText.of(lines.toString().replace("GPU1", "GPU0"));
    assertThat(text.log()).isEmpty();
    Part machine = text.parts().getFirst();
    assertThat(machine.kind()).isEqualTo(Kind.MACHINE);
    assertThat(MachineReader.read("t", machine.text()).devices()).hasSize(2);
  }

  @Test
  void a_matrix_of_peer_access_is_no_matrix_of_distances() {
    PastedText text = PastedText.of("\tGPU0\tGPU1\nGPU0\tX\tGNS\nGPU1\tGNS\tX\n");
    assertThat(text.parts()).isEmpty();
    assertThat(text.log()).hasSize(3);
  }

  @Test
  void a_table_begins_with_its_head_though_blank_lines_part_them() {
    PastedText text =
        PastedText.of(
            """
            Collective:             Alltoall
            Inplace:                0

                   Count        Size                Time, us
                                             avg         min         max
                   65536      262144       76.46       72.62       82.30
            """);
    assertThat(text.log()).isEmpty();
    assertThat(text.parts().getFirst().first()).isEqualTo(1);
  }

  @Test
  void the_first_root_of_a_tree_of_lspci_begins_it() {
    PastedText text =
        PastedText.of(
            "-+-[0000:20]-+-00.0\n |           \\-01.1-[21]----00.0\n \\-[0000:00]-+-00.0\n");
    assertThat(text.parts()).extracting(Part::first, Part::last).hasSize(1);
    assertThat(text.parts().getFirst().last()).isEqualTo(3);
  }
}
