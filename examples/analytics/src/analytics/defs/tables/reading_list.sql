-- One row a paper: how often others of the collection cite it, and how much of it there is to read.
SELECT paper_id, title, year, coalesce(times_cited, 0) AS times_cited, coalesce(tokens, 0) AS tokens
FROM papers
LEFT JOIN (SELECT cited_id AS paper_id, count(*) AS times_cited FROM citation_edges GROUP BY ALL) USING (paper_id)
LEFT JOIN (SELECT paper_id, sum(tokens)::BIGINT AS tokens FROM chunks GROUP BY ALL) USING (paper_id)
ORDER BY times_cited DESC, title
