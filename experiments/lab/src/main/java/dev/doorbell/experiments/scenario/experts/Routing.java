package dev.doorbell.experiments.scenario.experts;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Tokens, the experts that they go to, and what their sums must be, by plain loops over them.
 *
 * <p>Elements are bfloat16: the upper half of a float, rounded to even.
 */
final class Routing {
  /** Experts differ in what they multiply a token by: 1 to 15/8. */
  private static final int FACTORS = 8;

  private final ExpertShape shape;
  private final short[][] tokens;
  private final long[][] experts;
  private final float[][] weights;

  Routing(ExpertShape shape, long seed) {
    this.shape = shape;
    tokens = new short[shape.ranks()][shape.tokens() * shape.hidden()];
    experts = new long[shape.ranks()][shape.tokens() * shape.top()];
    weights = new float[shape.ranks()][shape.tokens() * shape.top()];
    SplittableRandom random = new SplittableRandom(seed);
    for (int rank = 0; rank < shape.ranks(); rank++) {
      for (int i = 0; i < tokens[rank].length; i++) {
        tokens[rank][i] = bits((float) random.nextDouble(-2, 2));
      }
      for (int token = 0; token < shape.tokens(); token++) {
        int[] drawn = random.ints(0, shape.experts()).distinct().limit(shape.top()).toArray();
        for (int k = 0; k < shape.top(); k++) {
          experts[rank][token * shape.top() + k] = drawn[k];
          weights[rank][token * shape.top() + k] = (float) random.nextDouble();
        }
      }
    }
  }

  static float value(short bits) {
    return Float.intBitsToFloat(bits << Short.SIZE);
  }

  static short bits(float value) {
    int all = Float.floatToRawIntBits(value);
    return (short) ((all + 0x7fff + ((all >>> Short.SIZE) & 1)) >>> Short.SIZE);
  }

  /** The tokens of a rank, one behind the other. */
  short[] tokens(int rank) {
    return tokens[rank];
  }

  /** The experts of each token of a rank. */
  long[] experts(int rank) {
    return experts[rank];
  }

  /** The weight of each of them. */
  float[] weights(int rank) {
    return weights[rank];
  }

  /** The tokens of a rank that go to an expert, in order. */
  List<Integer> sent(int rank, int expert) {
    List<Integer> sent = new ArrayList<>();
    for (int i = 0; i < experts[rank].length; i++) {
      if (experts[rank][i] == expert) {
        sent.add(i / shape.top());
      }
    }
    return sent;
  }

  /** What an expert makes of a token. */
  short[] expertOutput(int rank, int token, int expert) {
    short[] output = new short[shape.hidden()];
    for (int h = 0; h < output.length; h++) {
      output[h] = output(rank, token, h, expert);
    }
    return output;
  }

  /** Element {@code h} of it. */
  short output(int rank, int token, int h, int expert) {
    float factor = 1 + (float) (expert % FACTORS) / FACTORS;
    return bits(value(tokens[rank][token * shape.hidden() + h]) * factor);
  }

  /** The weighted sum of what the experts of a token made of it, in their order. */
  short[] combined(int rank, int token) {
    short[] sums = new short[shape.hidden()];
    for (int h = 0; h < sums.length; h++) {
      float sum = 0;
      for (int k = 0; k < shape.top(); k++) {
        int at = token * shape.top() + k;
        sum =
            Math.fma(
                value(output(rank, token, h, (int) experts[rank][at])), weights[rank][at], sum);
      }
      sums[h] = bits(sum);
    }
    return sums;
  }
}
