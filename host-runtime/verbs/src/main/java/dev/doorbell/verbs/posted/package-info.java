/**
 * Queues whose mlx5 WQEs are translated and posted by {@code ibv_post_send}. {@link
 * dev.doorbell.verbs.posted.PostingEngine} steps them; {@link
 * dev.doorbell.verbs.posted.RequestTranslator} reads a WQE.
 */
@NullMarked
package dev.doorbell.verbs.posted;

import org.jspecify.annotations.NullMarked;
