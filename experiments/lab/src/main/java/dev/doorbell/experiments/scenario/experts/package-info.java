/**
 * The exchange of tokens between ranks and experts by another library's low-latency kernels
 * (DeepEP's dispatch and combine): their arguments, and what they must leave by a plain computation
 * of routing and sums.
 */
@NullMarked
package dev.doorbell.experiments.scenario.experts;

import org.jspecify.annotations.NullMarked;
