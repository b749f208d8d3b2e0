/**
 * Queue pairs whose work requests and completions have another format than mlx5's: EFA's. They are
 * a front end of queue pairs of the HCA.
 */
@NullMarked
package dev.doorbell.softhca.foreign;

import org.jspecify.annotations.NullMarked;
