/**
 * The contract of a host channel adapter: protection domains, memory regions, completion queues,
 * queue pairs. Kept by the software HCA and by real mlx5 devices alike.
 */
@NullMarked
package dev.doorbell.core.hca;

import org.jspecify.annotations.NullMarked;
