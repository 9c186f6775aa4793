//! A network that is no plain dumbbell, drawn in text:
//!
//! ```text
//!             r1 ---- r2 --[ red ]--> r3 --[ red ]--> r4
//!                     |               |
//!                     +---- r5        +---- r6
//!   50 x bulk o------------------------------------->
//! ```

use super::canvas::Canvas;
use super::cell::{Cell, Strand};
use super::links::{capacity_in_words, law_of};
use super::sketch::{Chain, Edge, edges, sketch};
use super::{Own, buffer_in_words, counted, more};
use crate::scenario::Scenario;
use crate::topology::Link;
use std::collections::BTreeSet;
use std::fmt::Write;

impl Scenario {
    /// Any network, as large as people can read; a larger or more tangled one as a list of links.
    pub(super) fn draw_graph(&self, own: Own<'_>, out: &mut String) {
        let edges = edges(&self.topology);
        let pen = |looks| Pen { scenario: self, own, edges: &edges, looks };
        let drawn = if self.topology.nodes.len() <= MOST_NODES && edges.len() <= MOST_EDGES {
            let looks =
                if pen(PLAIN).is_uniform() { [BUFFERS, PLAIN].as_slice() } else { &[RICH, LABELS, PLAIN] };
            let whole = looks.iter().find_map(|looks| pen(*looks).draw(false));
            whole.or_else(|| pen(PLAIN).draw(true))
        } else {
            None
        };
        out.push_str(&drawn.unwrap_or_else(|| pen(RICH).list()));
    }
}

/// What stands beside the nodes and the laws.
#[derive(Clone, Copy)]
struct Looks {
    /// Rates and delays.
    labels: bool,
    /// Buffers.
    buffers: bool,
}

struct Pen<'a> {
    scenario: &'a Scenario,
    /// The label of the law that replaces those of the file.
    own: Own<'a>,
    edges: &'a [Edge],
    looks: Looks,
}

/// A chain that is drawn.
struct Block {
    canvas: Canvas,
    /// The row in which its nodes stand.
    line: usize,
    /// The column of each node.
    columns: Vec<usize>,
}

impl Pen<'_> {
    /// The drawing, with the ways of the classes below it where it is one row; None where it gets too large.
    fn draw(&self, wrap: bool) -> Option<String> {
        let mut rows = sketch(self.scenario, self.edges);
        // Each edge that joins what stands already closes a circle.
        if self.edges.len() + rows.len() > self.scenario.topology.nodes.len() + MOST_CIRCLES {
            return None;
        }
        if wrap {
            rows = rows.into_iter().map(|row| self.wrapped(row)).collect::<Option<Vec<_>>>()?.concat();
        }
        let blocks: Vec<Block> = rows.iter().map(|row| self.block(None, row)).collect::<Option<_>>()?;
        let heights: usize = blocks.iter().map(|block| block.canvas.height() + 1).sum();
        if heights > MOST_ROWS || blocks.iter().any(|block| block.canvas.width() > WIDEST) {
            return None;
        }
        let lanes = if blocks.len() == 1 {
            self.scenario.lanes(&rows[0].nodes, &blocks[0].columns)
        } else {
            Vec::new()
        };
        let margin = lanes.iter().map(|(name, _)| name.len() + 1).max().unwrap_or_default();
        let drawn = blocks.iter().map(|block| block.canvas.lines(margin));
        let mut text = drawn.collect::<Vec<_>>().join("\n");
        if !lanes.is_empty() {
            text.push('\n');
        }
        for (name, lane) in &lanes {
            let _ = writeln!(text, "  {name:<margin$}{lane}");
        }
        if !lanes.is_empty() {
            text.push_str(&more(self.scenario.flows.len(), lanes.len(), "class", "  "));
        }
        Some(text)
    }

    /// A row in pieces that are narrow enough; each begins with the node that the one before it ends with.
    fn wrapped(&self, row: Chain) -> Option<Vec<Chain>> {
        let mut pieces: Vec<Chain> = Vec::new();
        let mut width = usize::MAX;
        for (node, hung) in row.nodes.into_iter().zip(row.hung) {
            let before = pieces.last().and_then(|piece| piece.nodes.last()).copied();
            let step = before.map_or(Some(0), |before| self.cell(before, node).map(|cell| cell.width + 2))?;
            let name = self.name(node).len();
            width = width.saturating_add(step + name);
            if width > WIDEST {
                let joint =
                    before.map(|before| Chain { nodes: vec![before], hung: vec![Vec::new()], again: None });
                width = before.map_or(0, |before| self.name(before).len()) + step + name;
                pieces.push(joint.unwrap_or_default());
            }
            let piece = pieces.last_mut()?;
            piece.nodes.push(node);
            piece.hung.push(hung);
        }
        pieces.last_mut()?.again = row.again;
        Some(pieces)
    }

    /// A chain with all that hangs at it; `parent` is the node that it hangs at.
    fn block(&self, parent: Option<usize>, chain: &Chain) -> Option<Block> {
        let path: Vec<usize> = parent.iter().chain(&chain.nodes).chain(&chain.again).copied().collect();
        let mut cells = self.cells(&path)?;
        // Chains that come back to this row further right get the room that they need between their ends.
        let mut arcs = Vec::new();
        let mut rest: Vec<Vec<&Chain>> = vec![Vec::new(); chain.nodes.len()];
        for (from, hung) in
            chain.hung.iter().enumerate().flat_map(|(from, hung)| hung.iter().map(move |one| (from, one)))
        {
            let again = chain.nodes.iter().position(|node| Some(*node) == hung.again);
            match again.filter(|to| *to > from && hung.is_bare()) {
                Some(to) => arcs.push((to - from, from, to, hung)),
                None => rest[from].push(hung),
            }
        }
        arcs.sort_by_key(|(span, from, ..)| (*span, *from));
        for (_, from, to, arc) in &arcs {
            let columns = self.columns(parent, chain, &cells);
            let (_, needed) = self.arc(chain.nodes[*from], arc)?;
            let missing = needed.saturating_sub(columns[*to] - columns[*from] - 1);
            cells[to - usize::from(parent.is_none())].width += missing;
        }
        let mut block = self.row(parent, chain, &cells);
        // From the right, so that nothing that hangs meets what hangs further left.
        for (from, hung) in rest.iter().enumerate().rev() {
            hung.iter().try_for_each(|hung| self.hang(&mut block, from, chain.nodes[from], hung))?;
        }
        for (_, from, to, arc) in arcs {
            if self.span(&mut block, from, to, chain.nodes[from], arc).is_none() {
                self.hang(&mut block, from, chain.nodes[from], arc)?;
            }
        }
        Some(block)
    }

    /// Where the nodes of a chain stand.
    fn columns(&self, parent: Option<usize>, chain: &Chain, cells: &[Cell]) -> Vec<usize> {
        let mut cells = cells.iter().map(|cell| cell.width);
        // A chain that hangs begins with "+" and its first edge.
        let mut column = parent.map_or(0, |_| 1 + cells.next().unwrap_or_default() + 1);
        let place = |node: &usize| {
            let at = column;
            column += self.name(*node).len() + 1 + cells.next().unwrap_or_default() + 1;
            at
        };
        chain.nodes.iter().map(place).collect()
    }

    /// The row of a chain, without what hangs at it.
    fn row(&self, parent: Option<usize>, chain: &Chain, cells: &[Cell]) -> Block {
        let line = usize::from(cells.iter().any(|cell| !cell.main.label.is_empty()));
        let columns = self.columns(parent, chain, cells);
        let mut canvas = Canvas::default();
        let mut names: Vec<(usize, String)> = columns
            .iter()
            .zip(&chain.nodes)
            .map(|(column, node)| (*column, self.name(*node).into()))
            .collect();
        let mut column = 0;
        if parent.is_some() {
            names.insert(0, (0, "+".into()));
        }
        for (place, (at, name)) in names.iter().enumerate() {
            canvas.put(line, *at, name);
            column = at + name.len() + usize::from(parent.is_none() || place > 0);
            if let Some(cell) = cells.get(place) {
                cell.put(&mut canvas, line, column);
                column += cell.width + 1;
            }
        }
        if let Some(again) = chain.again {
            canvas.put(line, column, &format!("({})", self.name(again)));
        }
        Block { canvas, line, columns }
    }

    /// Hangs a chain at a node of a block, as high as there is room.
    fn hang(&self, block: &mut Block, place: usize, node: usize, chain: &Chain) -> Option<()> {
        let hung = self.block(Some(node), chain)?;
        let column = block.columns[place];
        let is_free = |top: &usize| {
            let stands = *top..top + hung.canvas.height();
            block.canvas.is_free(stands, column..column + hung.canvas.width() + 2)
                && block.canvas.is_open(block.line + 1..top + hung.line, column)
        };
        let first = (block.line + 2).saturating_sub(hung.line);
        let top = (first.max(block.line + 1)..=block.canvas.height() + 2).find(is_free)?;
        block.canvas.stamp(top, column, &hung.canvas);
        block.canvas.drop_line(block.line + 1..top + hung.line, column);
        Some(())
    }

    /// The cells of a chain that comes back, and the letters between its ends.
    fn arc(&self, from: usize, arc: &Chain) -> Option<(Vec<Cell>, usize)> {
        let path: Vec<usize> = [from].iter().chain(&arc.nodes).chain(&arc.again).copied().collect();
        let cells = self.cells(&path)?;
        let names: usize = arc.nodes.iter().map(|node| self.name(*node).len() + 2).sum();
        let width = names + cells.iter().map(|cell| cell.width).sum::<usize>();
        Some((cells, width))
    }

    /// Draws a chain that leaves a row and comes back to it, below what is there.
    fn span(&self, block: &mut Block, from: usize, to: usize, node: usize, arc: &Chain) -> Option<()> {
        let (left, right) = (block.columns[from], block.columns[to]);
        let (mut cells, needed) = self.arc(node, arc)?;
        let spare = (right - left - 1).checked_sub(needed)?;
        let last = cells.len() - 1;
        cells[0].width += spare / 2;
        cells[last].width += spare - spare / 2;
        let row = self.row(Some(node), &Chain { nodes: arc.nodes.clone(), ..Chain::default() }, &cells);
        let is_free = |top: &usize| {
            let line = top + row.line;
            block.canvas.is_free(*top..block.canvas.height(), left + 1..right)
                && [left, right].iter().all(|column| {
                    block.canvas.is_open(block.line + 1..line, *column)
                        && block.canvas.is_free(line..line + 1, *column..column + 1)
                })
        };
        let first = (block.line + 2).saturating_sub(row.line).max(block.line + 1);
        let top = (first..=block.canvas.height() + 1).find(is_free)?;
        block.canvas.stamp(top, left, &row.canvas);
        block.canvas.put(top + row.line, right, "+");
        for column in [left, right] {
            block.canvas.drop_line(block.line + 1..top + row.line, column);
        }
        Some(())
    }

    /// The edges of a path.
    fn cells(&self, path: &[usize]) -> Option<Vec<Cell>> {
        path.windows(2).map(|pair| self.cell(pair[0], pair[1])).collect()
    }

    /// The edge between two nodes, seen from the first.
    fn cell(&self, from: usize, to: usize) -> Option<Cell> {
        let edge = self.edges.iter().find(|edge| edge.ends == [from, to] || edge.ends == [to, from])?;
        let links = &self.scenario.topology.links;
        let mut ways = edge.links.map(|link| link.map(|link| &links[link]));
        if edge.ends[0] != from {
            ways.reverse();
        }
        // What has a disc comes first, then what goes to the right.
        let rank = |way: Option<&Link>| way.map(|link| link.disc.is_some());
        let to_right = rank(ways[0]) >= rank(ways[1]);
        if !to_right {
            ways.reverse();
        }
        let main = ways[0]?;
        let is_one_way = ways[1].is_none();
        let strand = |link: &Link, arrow| Strand {
            arrow,
            disc: self.disc(link),
            label: if self.looks.labels { capacity_in_words(link) } else { String::new() },
        };
        let same = |other: &Link| !self.looks.labels || capacity_in_words(main) == capacity_in_words(other);
        let other = ways[1].filter(|link| link.disc.is_some() || !same(link));
        let other = other.map(|link| strand(link, Some(!to_right)));
        let main = strand(main, (main.disc.is_some() || is_one_way).then_some(to_right));
        let width = main.width().max(other.as_ref().map_or(0, Strand::width));
        Some(Cell { main, other, width })
    }

    /// The disc of a link, such as `[ red | 50 packets ]`.
    fn disc(&self, link: &Link) -> String {
        match law_of(link, self.own) {
            Some(law) if self.looks.buffers && link.buffer.is_some() => {
                format!("[ {law} | {} ]", buffer_in_words(link.buffer))
            }
            Some(law) => format!("[ {law} ]"),
            None => String::new(),
        }
    }

    fn name(&self, node: usize) -> &str {
        &self.scenario.topology.nodes[node]
    }

    /// Whether all edges with a disc are alike, and all without, and both directions of each: then rates and delays are
    /// told once, below.
    fn is_uniform(&self) -> bool {
        let links = &self.scenario.topology.links;
        let mut kinds = BTreeSet::new();
        for edge in self.edges {
            let ways: Vec<&Link> = edge.links.iter().flatten().map(|link| &links[*link]).collect();
            let capacities: BTreeSet<String> = ways.iter().map(|link| capacity_in_words(link)).collect();
            let mut discs: Vec<_> = ways
                .iter()
                .filter_map(|link| Some((law_of(link, self.own)?, buffer_in_words(link.buffer))))
                .collect();
            if capacities.len() > 1 {
                return false;
            }
            discs.sort();
            kinds.insert((discs, capacities));
        }
        let plain = kinds.iter().filter(|(discs, _)| discs.is_empty()).count();
        plain <= 1 && kinds.len() - plain <= 1
    }

    /// The links, one a line, those with a disc first.
    fn list(&self) -> String {
        let links = &self.scenario.topology.links;
        let managed = self.scenario.topology.managed().count();
        let mut out = format!(
            "  {}, {} between them, {} of those with a disc\n",
            counted(self.scenario.topology.nodes.len() as u32, "node"),
            counted(links.len() as u32, "link"),
            managed,
        );
        let has_disc = |edge: &&Edge| edge.links.iter().flatten().any(|link| links[*link].disc.is_some());
        let (first, then): (Vec<&Edge>, Vec<&Edge>) = self.edges.iter().partition(has_disc);
        for edge in first.into_iter().chain(then).take(MOST_LISTED) {
            let Some(cell) = self.cell(edge.ends[0], edge.ends[1]) else { continue };
            let Cell { main, other, .. } = &cell;
            let (from, to) = (self.name(edge.ends[0]), self.name(edge.ends[1]));
            let back = other.as_ref().map_or(String::new(), |back| {
                let disc = if back.disc.is_empty() { String::new() } else { format!("{} ", back.disc) };
                format!("; back {disc}{}", back.label)
            });
            let _ = writeln!(out, "  {from} {} {to}  {}{back}", main.line(main.least()), main.label);
        }
        out + &more(self.edges.len(), MOST_LISTED, "pair of nodes", "  ")
    }
}

const RICH: Looks = Looks { labels: true, buffers: true };
const LABELS: Looks = Looks { labels: true, buffers: false };
const BUFFERS: Looks = Looks { labels: false, buffers: true };
const PLAIN: Looks = Looks { labels: false, buffers: false };
/// Letters of a line.
const WIDEST: usize = 100;
/// Lines of a drawing.
const MOST_ROWS: usize = 40;
/// A network beyond this is a list.
const MOST_NODES: usize = 40;
const MOST_EDGES: usize = 60;
/// So is one with more circles.
const MOST_CIRCLES: usize = 5;
/// Lines of a list.
const MOST_LISTED: usize = 20;
