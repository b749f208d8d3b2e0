package dev.doorbell.experiments.config.schema;

import dev.doorbell.experiments.config.value.Value;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * A setting that can be an axis or fixed, as the schema defines it.
 *
 * @param name as in the config
 * @param description one sentence
 * @param unit of numbers; empty for words and counts
 * @param words legal values of a word setting with their meanings; empty when any word, or the
 *     vocabulary, decides
 * @param numbers legal values of a number setting; empty when the range decides
 * @param is what the legal numbers are called, such as {@code an RDMA MTU}
 * @param min smallest number
 * @param max largest number
 * @param vocabulary where legal words come from ({@code topology}), or null
 * @param standard the value when the config says nothing
 */
public record Setting(
    String name,
    String description,
    Kind kind,
    String unit,
    SequencedMap<String, String> words,
    List<Long> numbers,
    String is,
    long min,
    long max,
    boolean powerOfTwo,
    @Nullable String vocabulary,
    Value standard) {

  /** Type of a setting's values. */
  public enum Kind {
    WORD,
    NUMBER,
    FLAG
  }

  public Setting {
    words = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(words));
    numbers = List.copyOf(numbers);
  }
}
