package dev.doorbell.experiments.config.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.doorbell.core.problem.ConfigException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Structures that a descriptor lays out field by field. */
class KernelStructureReaderTest {
  private static final String HEAD =
      """
      kernel: k
      description: of mine
      parameters: [a, status]
      measures: nothing
      launch: { ranks: sender }
      args:
      """;

  private static KernelStructure read(String args) throws ConfigException {
    return new KernelDescriptorReader()
        .read("my.kernel.yaml", HEAD + args.indent(2))
        .structures()
        .getFirst();
  }

  private static List<String> problems(String args) {
    return catchThrowableOfType(ConfigException.class, () -> read(args)).problems().stream()
        .map(problem -> problem.where() + " " + problem.what())
        .toList();
  }

  @Test
  void fields_lie_where_c_puts_them() throws ConfigException {
    KernelStructure structure =
        read("a: { fields: { x: u8 1, y: u64 qp.ring, z: 'u16[3]', w: be32 qp.number, v: u8 } }");
    assertThat(structure.layout(2, 1).offsets()).containsExactly(0L, 8L, 16L, 24L, 28L);
    assertThat(structure.layout(2, 1).bytes()).isEqualTo(32);
  }

  @Test
  void offsets_and_a_size_may_be_given() throws ConfigException {
    KernelStructure structure = read("a: { bytes: 20, fields: { x: u8@3 1, y: u64@4 } }");
    assertThat(structure.layout(2, 1).offsets()).containsExactly(3L, 4L);
    assertThat(structure.layout(2, 1).bytes()).isEqualTo(20);
  }

  @Test
  void an_array_has_a_number_for_each_rank_or_queue_pair() throws ConfigException {
    KernelStructure structure =
        read("a: { fields: { keys: 'be32[rank] peer.rkey', n: 'u64[queue_pair]' } }");
    assertThat(structure.layout(3, 2).offsets()).containsExactly(0L, 16L);
    assertThat(structure.layout(3, 2).bytes()).isEqualTo(32);
  }

  @Test
  void what_a_value_names_is_refused_at_its_place_with_the_nearest_word() {
    assertThat(problems("a: { fields: { x: u64 qp.rin } }"))
        .singleElement()
        .asString()
        .startsWith("my.kernel.yaml:7:21 'qp.rin' names no number")
        .contains("qp.ring");
  }

  @Test
  void a_type_that_does_not_exist_is_refused_with_the_nearest_one() {
    assertThat(problems("a: { fields: { x: u63 1 } }"))
        .containsExactly("my.kernel.yaml:7:21 unknown type 'u63'  - did you mean 'u64'?");
  }

  @Test
  void fields_that_overlap_or_do_not_fit_are_refused() {
    assertThat(problems("a: { fields: { x: u64, y: u8@4 1 } }"))
        .containsExactly(
            "my.kernel.yaml:7:6 a.y begins at byte 4, and the field before it ends at 8");
    assertThat(problems("a: { bytes: 4, fields: { x: u64 } }"))
        .containsExactly("my.kernel.yaml:7:6 the fields of a end at byte 8, and it has 4");
  }

  @Test
  void numbers_and_values_have_to_be_as_many() {
    assertThat(problems("a: { fields: { x: 'u8[3] 1, 2' } }"))
        .containsExactly("my.kernel.yaml:7:21 2 values for 3 numbers");
    assertThat(problems("a: { fields: { x: 'u8[none] 1' } }"))
        .containsExactly("my.kernel.yaml:7:21 'none' is no number of elements");
  }

  @Test
  void a_structure_that_nobody_gets_is_refused() {
    assertThat(problems("a: { fields: { x: u8 } }\nb: { fields: { x: u8 } }"))
        .containsExactly("my.kernel.yaml:8:6 'b' is no parameter of the kernel");
  }

  @Test
  void a_size_that_depends_on_the_world_cannot_be_passed_by_value() {
    assertThat(problems("a: { pass: value, fields: { x: 'u8[rank]' } }"))
        .containsExactly(
            "my.kernel.yaml:7:14 the size of a depends on the world, and a parameter's does not");
  }
}
