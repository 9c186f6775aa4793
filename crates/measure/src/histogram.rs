//! Distributions in constant memory.

/// A log-linear histogram of whole numbers: exact below 2^BITS, and above it
/// with as many buckets for each doubling.
///
/// Buckets are allocated by the page, pages with weight only: most
/// distributions leave most doublings empty.
#[derive(Clone, Debug, Default)]
pub struct Histogram<const BITS: u32> {
    pages: Vec<Option<Box<[u64; PAGE]>>>,
}

impl<const BITS: u32> Histogram<BITS> {
    /// Adds `weight` at `value`.
    #[inline]
    pub fn add(&mut self, value: u64, weight: u64) {
        let bucket = bucket_of::<BITS>(value);
        match self.pages.get_mut(bucket / PAGE) {
            Some(Some(page)) => page[bucket % PAGE] += weight,
            _ => self.begin(bucket, weight),
        }
    }

    #[cold]
    #[inline(never)]
    fn begin(&mut self, bucket: usize, weight: u64) {
        self.page(bucket / PAGE)[bucket % PAGE] = weight;
    }

    /// The page of this number, added where it is missing.
    fn page(&mut self, number: usize) -> &mut [u64; PAGE] {
        if number >= self.pages.len() {
            self.pages.resize_with(number + 1, || None);
        }
        self.pages[number].get_or_insert_with(|| Box::new([0; PAGE]))
    }

    /// Adds the weight of `other`.
    pub fn merge(&mut self, other: &Histogram<BITS>) {
        for (number, page) in other.pages.iter().enumerate() {
            if let Some(page) = page {
                let mine = self.page(number);
                mine.iter_mut().zip(page.iter()).for_each(|(mine, weight)| *mine += weight);
            }
        }
    }

    /// The weight added since `before`, an earlier state of the same histogram.
    pub(crate) fn since(&self, before: &Histogram<BITS>) -> Histogram<BITS> {
        let mut rest = self.clone();
        for (mine, earlier) in rest.pages.iter_mut().zip(&before.pages) {
            if let (Some(mine), Some(earlier)) = (mine, earlier) {
                mine.iter_mut().zip(earlier.iter()).for_each(|(mine, weight)| *mine -= weight);
            }
        }
        // Pages without weight are not kept.
        rest.pages
            .iter_mut()
            .for_each(|page| *page = page.take().filter(|page| page.iter().any(|of| *of > 0)));
        rest
    }

    /// The middle of the lowest bucket with weight.
    pub(crate) fn least(&self) -> Option<f64> {
        self.buckets().find(|(_, weight)| *weight > 0).map(|(bucket, _)| middle_of::<BITS>(bucket))
    }

    /// All weight added.
    pub fn total(&self) -> u64 {
        self.buckets().map(|(_, weight)| weight).sum()
    }

    /// The share of all weight that is at 0; None where there is none.
    pub fn share_of_zero(&self) -> Option<f64> {
        let (zero, total) = (self.buckets().next().filter(|(bucket, _)| *bucket == 0), self.total());
        (total > 0).then(|| zero.map_or(0, |(_, weight)| weight) as f64 / total as f64)
    }

    /// The smallest bucket's middle with at least the share `q` of all weight at or below it.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let total = self.total() as f64;
        let wanted = (q * total).max(f64::MIN_POSITIVE);
        self.cumulative().find(|(_, share)| share * total >= wanted).map(|(value, _)| value)
    }

    /// The mean of so much of the weight, that of the lowest values.
    pub(crate) fn mean_of_lowest(&self, weight: u64) -> Option<f64> {
        let (mut left, mut sum) = (weight, 0.0);
        for (bucket, held) in self.buckets() {
            let taken = held.min(left);
            sum += middle_of::<BITS>(bucket) * taken as f64;
            left -= taken;
        }
        (weight > left).then(|| sum / (weight - left) as f64)
    }

    /// The middle of each bucket that holds weight, and the share of all weight at or below it.
    pub fn cumulative(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let (mut below, total) = (0, self.total() as f64);
        self.buckets().filter(|(_, weight)| *weight > 0).map(move |(bucket, weight)| {
            below += weight;
            (middle_of::<BITS>(bucket), below as f64 / total)
        })
    }

    /// The buckets that are held, in order, and their weights.
    fn buckets(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let held = self.pages.iter().enumerate().filter_map(|(number, page)| Some((number, page.as_ref()?)));
        held.flat_map(|(number, page)| (number * PAGE..).zip(page.iter().copied()))
    }
}

/// Buckets of a page: enough for a long run to need hardly a page more than a short one.
const PAGE: usize = 512;

fn bucket_of<const BITS: u32>(value: u64) -> usize {
    if value < 1 << BITS {
        return value as usize;
    }
    let shift = value.ilog2() - BITS;
    ((u64::from(shift) << BITS) + (value >> shift)) as usize
}

fn middle_of<const BITS: u32>(bucket: usize) -> f64 {
    let bucket = bucket as u64;
    if bucket < 1 << BITS {
        return bucket as f64;
    }
    let shift = (bucket >> BITS) - 1;
    let low = (bucket - (shift << BITS)) << shift;
    low as f64 + ((1_u64 << shift) - 1) as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_exact_where_promised_and_narrow_above() {
        for value in (0..5000).chain([1 << 20, (1 << 40) + 12345, u64::MAX / 3]) {
            let middle = middle_of::<6>(bucket_of::<6>(value));
            assert!((middle - value as f64).abs() <= value as f64 / 128.0 + 0.5, "{value}: {middle}");
            assert!(value >= 64 || middle == value as f64);
            assert!(value >= 1024 || middle_of::<10>(bucket_of::<10>(value)) == value as f64);
        }
    }

    #[test]
    fn merging_equals_adding_to_one() {
        let [mut one, mut other, mut both] = [0, 1, 2].map(|_| Histogram::<6>::default());
        for value in 0..5000 {
            if value % 3 == 0 {
                one.add(value, 2);
            } else {
                other.add(value * 7, 2);
            }
            both.add(if value % 3 == 0 { value } else { value * 7 }, 2);
        }
        one.merge(&other);
        assert_eq!(one.total(), 10_000);
        assert!(one.cumulative().eq(both.cumulative()));
    }

    #[test]
    fn the_weight_since_a_state_is_what_was_added() {
        let [mut all, mut later] = [0, 1].map(|_| Histogram::<6>::default());
        (0..1000).for_each(|value| all.add(value, 2));
        let before = all.clone();
        assert_eq!((before.since(&before).total(), before.since(&before).least()), (0, None));
        for value in (300..100_000).step_by(7) {
            all.add(value, 3);
            later.add(value, 3);
        }
        assert!(all.since(&before).cumulative().eq(later.cumulative()));
        assert_eq!(all.since(&before).least(), later.cumulative().next().map(|(value, _)| value));
    }

    #[test]
    fn quantiles_of_a_uniform_spread() {
        let mut histogram = Histogram::<6>::default();
        (1..=10_000).for_each(|value| histogram.add(value, 1));
        for q in [0.01, 0.5, 0.95, 0.99] {
            let error = histogram.quantile(q).unwrap() / (q * 10_000.0) - 1.0;
            assert!(error.abs() < 0.01, "{q}: {error}");
        }
        assert_eq!(Histogram::<6>::default().quantile(0.5), None);
        assert_eq!((histogram.share_of_zero(), Histogram::<6>::default().share_of_zero()), (Some(0.0), None));
        histogram.add(0, 10_000);
        assert_eq!(histogram.share_of_zero(), Some(0.5));
    }
}
